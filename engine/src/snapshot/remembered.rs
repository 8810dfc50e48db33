//! What an earlier decision left to this one, in the Queue's own status.

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::amounts::Resource;
use crate::names::OwnerUid;
use crate::time::Timestamp;

/// What a queue's status remembers of earlier decisions. Losing it costs calm, never correctness.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remembered {
    /// What the queue was last taken to ask for.
    pub demand: Amounts,
    /// Since when it has asked for less than that, by resource.
    pub falling: BTreeMap<Resource, Timestamp>,
    /// The owners and bare pods whose demand was not taken up, and the owners whose pods are not created.
    pub not_taken_up: BTreeMap<OwnerUid, NotTakenUp>,
    /// Since when the queue has been short of its share.
    pub short_since: Option<Timestamp>,
}

impl Remembered {
    /// The same of these resources alone.
    pub(crate) fn of(mut self, resources: &[Resource]) -> Self {
        self.demand = resources.iter().map(|one| (one.clone(), self.demand.get(one))).collect();
        self.falling.retain(|one, _| resources.contains(one));
        self
    }
}

/// Demand of which nothing has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotTakenUp {
    /// The generation of the owner then: another one gets another chance.
    pub generation: i64,
    /// Since when it does not count, or since when there has been room for pods that are not created.
    pub since: Timestamp,
    /// Whether it counts all the same: pods of it are not created although there has been room for them.
    pub not_created: bool,
}
