//! What an earlier decision left to this one, in the Queue's own status.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::amounts::{Amount, Amounts, Resource};
use crate::names::OwnerUid;
use crate::time::Timestamp;

/// What a queue's status remembers of earlier decisions. Losing it costs calm, never correctness.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// What the queue was last taken to ask for.
    pub demand: Amounts,
    /// Since when it has asked for less than that, by resource.
    pub falling: BTreeMap<Resource, Timestamp>,
    /// The top workloads and bare pods that are set aside, or were within the last hour.
    pub set_aside: BTreeMap<OwnerUid, SetAside>,
    /// Since when there has been room for pods that owners lack and that are not created.
    pub waiting: BTreeMap<OwnerUid, Timestamp>,
    /// Those of `waiting` for which it has been long enough to be reported. Only these are stored: for the others a new process
    /// counts anew.
    pub not_created: BTreeMap<OwnerUid, Timestamp>,
    /// Since when its pods without a node have had room in vain: no pod is on its way out for them, and none would go for them
    /// if it might. None while they wait for others. It is not stored either.
    pub room_since: Option<Timestamp>,
    /// How many pods of each owner have been Ready at most, while another workload of the queue is set aside: an eviction
    /// must not change how many count. It is not stored either.
    pub proven: BTreeMap<OwnerUid, u32>,
    /// Since when the queue has been short of its share.
    pub short_since: Option<Timestamp>,
    /// The windows by which idle capacity is lent to the queue.
    pub windows: BTreeMap<Resource, Window>,
}

/// How much of a resource is lent to a queue at most, and since when the queue has not used it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// How much.
    pub size: Amount,
    /// The least target of the queue since the window got this size.
    pub target: Amount,
    /// When more than half of it was used last, or when it began.
    pub used: Timestamp,
    /// When it was halved, because pods of its queue went for one that waited for a node; none after ten minutes.
    pub lost: Option<Timestamp>,
}

impl Remembered {
    /// The same of these resources alone.
    pub fn of(mut self, resources: &[Resource]) -> Self {
        self.demand = self.demand.of(resources);
        self.falling.retain(|one, _| resources.contains(one));
        self.windows.retain(|one, _| resources.contains(one));
        self
    }
}

/// The most workloads of a queue that are kept as set aside although nothing of them is there any more, and the most that a
/// status stores.
pub const MAX_SET_ASIDE: usize = 64;

/// How long after its end a time set aside remains evidence against all workloads of the queue.
const EVIDENCE_SECONDS: i64 = 3600;

/// A workload that had room and did not start. It counts again after 1, 2, 4 … 30 minutes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The kind of the top workload, or `Pod`.
    pub kind: Arc<str>,
    /// Its name within the namespace.
    pub name: Arc<str>,
    /// A number that changes with its spec: another spec counts at once.
    pub revision: i64,
    /// Since when it is set aside.
    pub since: Timestamp,
    /// How many times it was in a row; zero once a pod of it has become Ready.
    pub times: u32,
    /// How many nodes counted: it counts at once when there is one more.
    pub nodes: u32,
    /// Whether no node had room for it: it counts at once when one has.
    pub lacked_room: bool,
}

impl SetAside {
    /// How long it lasts.
    pub fn seconds(&self) -> i64 {
        let doublings = self.times.saturating_sub(1).min(5);
        if self.times == 0 { 0 } else { (60_i64 << doublings).min(1800) }
    }

    /// When it counts again.
    pub fn until(&self) -> Timestamp {
        self.since.plus_seconds(self.seconds())
    }

    /// Whether it does not count now.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.until() > now
    }

    /// How long it is evidence.
    pub fn evidence_until(&self) -> Timestamp {
        self.until().plus_seconds(EVIDENCE_SECONDS)
    }

    /// The same, begun no later than `now`: a time in the future comes from a wrong clock.
    pub fn not_after(&self, now: Timestamp) -> Self {
        Self { since: self.since.min(now), ..self.clone() }
    }
}
