//! How nodes come in, and how they stand at an instant.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as Object;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::snapshot::Node;
use quotient_engine::time::Timestamp;

use super::entry::{NodeEntry, excess};
use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;
use crate::shared_labels::shared_labels;

/// Every node that the API server knows.
#[derive(Debug)]
pub(crate) struct Nodes {
    entries: BTreeMap<NodeName, NodeEntry>,
    relist: Relist<NodeName>,
}

impl Default for Nodes {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), relist: Relist::idle() }
    }
}

impl Nodes {
    /// The nodes as of `now`.
    pub(crate) fn at(&mut self, now: Timestamp, ready_seconds: i64) -> BTreeMap<NodeName, Arc<Node>> {
        self.entries.iter_mut().map(|(name, entry)| (name.clone(), entry.at(now, ready_seconds))).collect()
    }

    /// What all nodes together offer or will offer: also those that are not Ready yet, or cordoned. They are part of what
    /// the cluster may grow to as long as they are there.
    pub(crate) fn claimed(&self) -> Amounts {
        let mut claimed = Amounts::new();
        for allocatable in self.entries.values().filter_map(NodeEntry::claims) {
            claimed.add_all(allocatable);
        }
        claimed
    }

    /// When the first node that is not Ready for long enough yet will be.
    pub(crate) fn next_change(&self, now: Timestamp, ready_seconds: i64) -> Option<Timestamp> {
        self.entries.values().filter_map(|entry| entry.ripens_after(now, ready_seconds)).min()
    }
}

impl Keeps<Object> for Index {
    fn apply(&mut self, object: &Object) -> bool {
        let Some(uid) = uid_of(&object.metadata) else { return false };
        let name = NodeName::from(object.metadata.name.as_deref().unwrap_or_default());
        self.nodes.relist.seen(&name);
        let kept = self.nodes.entries.get(&name);
        if kept.is_some_and(|kept| Age::of(&object.metadata).is_stale_beside(kept.age)) {
            return false;
        }
        let known = kept.map(NodeEntry::labels);
        let labels =
            shared_labels(&mut self.texts, known, object.metadata.labels.as_ref(), |_| true, usize::MAX);
        let entry = NodeEntry::of(object, &uid, labels, &self.settings.nodes);
        match self.nodes.entries.get_mut(&name) {
            Some(kept) if !kept.differs_from(&entry) => {
                kept.uid = entry.uid;
                kept.age = entry.age;
                false
            }
            _ => {
                self.nodes.entries.insert(name, entry);
                true
            }
        }
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        self.nodes.relist.seen(&NodeName::from(&*object.key().1));
        false
    }

    fn excess(object: &Object) -> Option<String> {
        excess(object)
    }

    fn delete(&mut self, _namespace: &str, name: &str, uid: &str) -> bool {
        let name = NodeName::from(name);
        if self.nodes.entries.get(&name).is_none_or(|kept| *kept.uid != *uid) {
            return false;
        }
        self.nodes.relist.seen(&name);
        self.nodes.entries.remove(&name).is_some()
    }

    fn relist_begin(&mut self) {
        self.nodes.relist.begin(self.nodes.entries.keys().cloned());
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.nodes.relist.finish();
        missing.iter().fold(false, |changed, name| self.nodes.entries.remove(name).is_some() | changed)
    }
}
