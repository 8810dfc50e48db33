//! Namespaces: the labels by which parent queues select whose parents they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace as Object;
use quotient_engine::labels::Labels;
use quotient_engine::names::Namespace;

use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;
use crate::shared_labels::shared_labels;

/// The labels of every namespace that the API server knows.
///
/// They stand here, in a few hundred bytes a namespace, and are shown only of namespaces with Queues: a cluster may
/// have ten thousand namespaces that take part in nothing, and snapshots do not mention them.
#[derive(Debug)]
pub(crate) struct NamespaceLabels {
    entries: BTreeMap<Namespace, Entry>,
    relist: Relist<Namespace>,
}

#[derive(Debug)]
struct Entry {
    uid: Arc<str>,
    age: Age,
    labels: Labels,
}

impl Default for NamespaceLabels {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), relist: Relist::idle() }
    }
}

impl NamespaceLabels {
    /// The labels of `namespace`; none if it is not known.
    pub(crate) fn of(&self, namespace: &Namespace) -> Labels {
        self.entries.get(namespace).map(|entry| entry.labels.clone()).unwrap_or_default()
    }

    /// Whether the API server knows `namespace`.
    pub(crate) fn knows(&self, namespace: &Namespace) -> bool {
        self.entries.contains_key(namespace)
    }
}

impl Keeps<Object> for Index {
    fn apply(&mut self, object: &Object) -> bool {
        let Some(uid) = uid_of(&object.metadata) else { return false };
        let name = Namespace::from(object.metadata.name.as_deref().unwrap_or_default());
        let age = Age::of(&object.metadata);
        self.labels.relist.seen(&name);
        let kept = self.labels.entries.get(&name);
        if kept.is_some_and(|kept| age.is_stale_beside(kept.age)) {
            return false;
        }
        let known = kept.map(|kept| &kept.labels);
        let labels =
            shared_labels(&mut self.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        self.labels.entries.insert(name.clone(), Entry { uid: (*uid).into(), age, labels });
        // What was granted there may land from now on.
        self.show_quota(&name) | self.show_labels(&name)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.labels.relist.seen(&Namespace::from(&*object.key().1));
        false
    }

    fn delete(&mut self, _namespace: &str, name: &str, uid: &str) -> bool {
        let name = Namespace::from(name);
        if self.labels.entries.get(&name).is_none_or(|kept| *kept.uid != *uid) {
            return false;
        }
        self.remove_labels(&name)
    }

    fn relist_begin(&mut self) {
        self.labels.relist.begin(self.labels.entries.keys().cloned());
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.labels.relist.finish();
        missing.iter().fold(false, |changed, name| self.remove_labels(name) | changed)
    }
}

impl Index {
    /// Shows snapshots the labels of `namespace`, if there is a Queue in it that they matter to. Says whether
    /// that is news.
    pub(crate) fn show_labels(&mut self, namespace: &Namespace) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let matter = entry.queue_names().next().is_some();
        entry.set_labels(if matter { self.labels.of(namespace) } else { Labels::default() })
    }

    fn remove_labels(&mut self, name: &Namespace) -> bool {
        self.labels.relist.seen(name);
        self.labels.entries.remove(name);
        self.show_quota(name) | self.show_labels(name)
    }
}
