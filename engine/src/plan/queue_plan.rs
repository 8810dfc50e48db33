//! What one queue gets, and what is written for it.

use crate::amounts::{Amounts, Bounds};
use crate::names::{QueueName, QueueUid};
use crate::reasons::ShortReason;
use crate::snapshot::{Admission, Remembered};

use super::{Reach, Unmet, Withheld};

/// The numbers of one queue after this decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuePlan {
    /// The Queue's id.
    pub uid: QueueUid,
    /// The generation of the spec that was decided on.
    pub generation: i64,
    /// Whether it groups other queues; then its amounts are the sums of theirs, and it has no quota.
    pub is_parent: bool,
    /// The queue that it takes its share from; `None` for the cluster itself.
    pub parent: Option<QueueName>,
    /// Its demand, at most its limit; a resource that it leaves unbounded shows as the capacity.
    pub demand: Amounts,
    /// Its deserved share of the capacity, at the demand of all queues: D.
    pub deserved: Amounts,
    /// Its deserved share in whole pods: what pods are reclaimed for, and above which they may be reclaimed from it. T.
    pub target: Amounts,
    /// Its nominal share: what it would deserve if every queue asked for everything.
    pub nominal: Amounts,
    /// Its weight among its siblings.
    pub weight: u32,
    /// What its spec guarantees it.
    pub guaranteed: Bounds,
    /// The limit of its spec.
    pub limit: Bounds,
    /// What its quota allows once the writes of this plan are done: A.
    pub allocated: Amounts,
    /// What its pods request, pending and terminating ones included.
    pub used: Amounts,
    /// What is free or being freed for it and not granted yet.
    pub preempting: Amounts,
    /// What of its target its units and claims lack; what is preempting included.
    pub lacking: Amounts,
    /// The part of its guarantee that the capacity cannot meet even if no other queue had anything.
    pub unmeetable: Amounts,
    /// What ResourceQuotas of others in its namespace allow, of the resources of which it asks for more than that.
    pub foreign_limit: Bounds,
    /// Its pods.
    pub pods: PodCounts,
    /// The quota to write; `None` if the one that stands is right.
    pub quota_write: Option<QuotaWrite>,
    /// Whether the quota that stands is what this plan wants, and is in force; also where there is none and none is written.
    pub quota_in_force: bool,
    /// Whether the quota is left as it stands: mode Observe, or a pause and a write that would lower or restore it, or in Gate
    /// mode change the limit that it holds.
    pub quota_left_alone: bool,
    /// What happens to a new pod for which the queue has no room.
    pub admission: Admission,
    /// How far this plan is carried out in the queue.
    pub reach: Reach,
    /// What withholds the evictions that the queue waits for, if it is starved for that.
    pub withheld: Option<Withheld>,
    /// Why others hold part of its share, if they do.
    pub starved: Option<ShortReason>,
    /// The pods that cannot start now, and why; the most important first.
    pub unmet: Vec<Unmet>,
    /// What the next decision has to know of this one, kept in the Queue's status.
    pub remember: Remembered,
}

impl QueuePlan {
    /// Whether the ledger grants what is allocated. In Gate mode it does whatever becomes of the quota: only the operator
    /// changes what it grants, and nothing of it falls during a pause.
    pub fn is_granted(&self) -> bool {
        let is_gated = self.admission == Admission::Gate && self.reach.writes_quotas();
        is_gated || !self.quota_left_alone
    }
}

/// How many pods a queue has in each state; finished ones do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PodCounts {
    /// Started and not on their way out.
    pub running: u32,
    /// Not started, not gated and not on their way out.
    pub pending: u32,
    /// Held by a gate until the queue has room. They are not part of what it uses.
    pub gated: u32,
    /// On their way out.
    pub terminating: u32,
}

impl PodCounts {
    /// All that are not finished.
    pub const fn all(&self) -> u32 {
        self.running.saturating_add(self.pending).saturating_add(self.gated).saturating_add(self.terminating)
    }
}

/// A ResourceQuota to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaWrite {
    /// The Queue that is to own it. None if that is being deleted: then nothing is created, and the owner references stay,
    /// because garbage collection may have changed or deleted the quota for the Queue already.
    pub owner: Option<QueueUid>,
    /// Every governed resource with its new amount, zeros included. In Gate mode only what the Queue limits; if that is
    /// nothing, the quota is to be deleted.
    pub hard: Bounds,
    /// Whether it lowers any resource; those are written first.
    pub lowers: bool,
}
