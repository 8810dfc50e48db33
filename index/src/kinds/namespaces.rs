//! How namespaces come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace as Object;
use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::labels::{NamespaceLabels, shared_labels};
use crate::meta::{Kept, Key, Meta};

impl Kind for Object {
    fn kept<'i>(index: &'i Index, (): &(), (_, name): &Key) -> Option<Kept<'i>> {
        index.labels.get(&namespace(name)).map(|entry| entry.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.labels.keys().map(|name| (Namespace::default(), name.as_str().into()))
    }

    fn put(index: &mut Index, (): &(), (_, name): Key, meta: Meta, object: &Self) -> bool {
        let name = namespace(&name);
        let known = index.labels.get(&name).map(|kept| &kept.labels);
        let labels =
            shared_labels(&mut index.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        index.labels.insert(name.clone(), NamespaceLabels { meta, labels });
        index.show_labels(&name)
    }

    fn remove(index: &mut Index, (): &(), (_, name): &Key) -> bool {
        let name = namespace(name);
        index.labels.remove(&name);
        index.show_labels(&name)
    }
}

fn namespace(name: &Arc<str>) -> Namespace {
    Namespace::new(Arc::clone(name))
}

impl Index {
    /// Shows snapshots the labels of `namespace`, if there is a Queue in it that they matter to. Says whether
    /// that is news.
    pub(crate) fn show_labels(&mut self, namespace: &Namespace) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let known = self.labels.get(namespace).filter(|_| entry.queue_names().next().is_some());
        entry.set_labels(known.map(|known| known.labels.clone()).unwrap_or_default())
    }
}
