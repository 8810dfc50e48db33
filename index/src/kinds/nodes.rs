//! How nodes come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as Object;
use quotient_snapshot::names::{Namespace, NodeName};

use super::Kind;
use crate::index::Index;
use crate::labels::shared_labels;
use crate::meta::{Kept, Key, Meta};
use crate::nodes::{NodeEntry, excess};

impl Kind for Object {
    fn excess(&self) -> Option<String> {
        excess(self)
    }

    fn kept<'i>(index: &'i Index, (): &(), (_, name): &Key) -> Option<Kept<'i>> {
        index.nodes.0.get(&node(name)).map(|entry| entry.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.nodes.0.keys().map(|name| (Namespace::default(), name.as_str().into()))
    }

    fn put(index: &mut Index, (): &(), (_, name): Key, meta: Meta, object: &Self) -> bool {
        let name = node(&name);
        let known = index.nodes.0.get(&name).map(NodeEntry::labels);
        let labels =
            shared_labels(&mut index.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        let entry = NodeEntry::of(object, meta, labels, &index.settings.nodes);
        match index.nodes.0.get_mut(&name) {
            Some(kept) if !kept.differs_from(&entry) => {
                kept.meta = entry.meta;
                false
            }
            _ => {
                index.nodes.0.insert(name, entry);
                true
            }
        }
    }

    fn remove(index: &mut Index, (): &(), (_, name): &Key) -> bool {
        index.nodes.0.remove(&node(name)).is_some()
    }
}

fn node(name: &Arc<str>) -> NodeName {
    NodeName::new(Arc::clone(name))
}
