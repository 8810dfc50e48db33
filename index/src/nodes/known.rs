//! The nodes that the API server knows, and how they stand at an instant.

use std::collections::BTreeMap;
use std::sync::Arc;

use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::snapshot::Node;
use quotient_engine::time::Timestamp;

use super::entry::NodeEntry;

/// Every node that the API server knows.
#[derive(Debug, Default)]
pub(crate) struct Nodes(pub(crate) BTreeMap<NodeName, NodeEntry>);

impl Nodes {
    /// The nodes as of `now`.
    pub(crate) fn at(&mut self, now: Timestamp, ready_seconds: i64) -> BTreeMap<NodeName, Arc<Node>> {
        self.0.iter_mut().map(|(name, entry)| (name.clone(), entry.at(now, ready_seconds))).collect()
    }

    /// What all nodes together offer or will offer: also those that are not Ready yet, or cordoned. They are part of what
    /// the cluster may grow to as long as they are there.
    pub(crate) fn claimed(&self) -> Amounts {
        let mut claimed = Amounts::new();
        for allocatable in self.0.values().filter_map(NodeEntry::claims) {
            claimed.add_all(allocatable);
        }
        claimed
    }

    /// When the first node that is not Ready for long enough yet will be.
    pub(crate) fn next_change(&self, now: Timestamp, ready_seconds: i64) -> Option<Timestamp> {
        self.0.values().filter_map(|entry| entry.ripens_after(now, ready_seconds)).min()
    }
}
