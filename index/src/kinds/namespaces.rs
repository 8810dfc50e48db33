//! How namespaces come in.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace as Object;
use quotient_snapshot::names::Namespace;

use super::Kind;
use crate::index::Index;
use crate::labels::{ObservedNamespace, shared_labels};
use crate::meta::{Kept, Key, Meta};

impl Kind for Object {
    fn kept<'i>(index: &'i Index, (): &(), (_, name): &Key) -> Option<Kept<'i>> {
        index.observed_namespaces.get(&namespace(name)).map(|entry| entry.meta.kept())
    }

    fn keys(index: &Index, (): &()) -> impl Iterator<Item = Key> {
        index.observed_namespaces.keys().map(|name| (Namespace::default(), name.as_str().into()))
    }

    fn put(index: &mut Index, (): &(), (_, name): Key, meta: Meta, object: &Self) -> bool {
        let name = namespace(&name);
        let known = index.observed_namespaces.get(&name).map(|kept| &kept.labels);
        let labels =
            shared_labels(&mut index.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        let terminating = object.metadata.deletion_timestamp.is_some();
        index.observed_namespaces.insert(name.clone(), ObservedNamespace { meta, labels, terminating });
        index.show_namespace(&name)
    }

    fn remove(index: &mut Index, (): &(), (_, name): &Key) -> bool {
        let name = namespace(name);
        index.observed_namespaces.remove(&name);
        index.show_namespace(&name)
    }
}

fn namespace(name: &Arc<str>) -> Namespace {
    Namespace::new(Arc::clone(name))
}

impl Index {
    /// Shows snapshots what was seen of the object `namespace`, if there is a Queue in it that it matters to. Says whether
    /// that is news.
    pub(crate) fn show_namespace(&mut self, namespace: &Namespace) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let known = self.observed_namespaces.get(namespace).filter(|_| entry.queue_names().next().is_some());
        let labels = known.map(|known| known.labels.clone()).unwrap_or_default();
        entry.show_namespace(labels, known.is_some_and(|known| known.terminating))
    }
}
