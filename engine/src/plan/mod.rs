//! What is to be done, with every number and reason behind it.

mod eviction;
mod gate_removal;
mod incomplete_gang;
mod ledger_after;
mod queue_job_plan;
mod queue_plan;
mod reach;
mod scaling;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::snapshot::PodId;
pub use eviction::{Eviction, Lowered, PassedOver, Preemptor, Stage, Unmet};
pub use gate_removal::GateRemoval;
pub use incomplete_gang::{GangPart, INCOMPLETE_SECONDS, IncompleteGang, Resolution};
pub use queue_job_plan::{JobAmounts, QueueJobName, QueueJobPhase, QueueJobPlan, SlotReason};
pub use queue_plan::{PodCounts, QueuePlan, QuotaWrite};
pub use reach::{Pause, Reach, Withheld};
pub use scaling::Scaling;

use crate::amounts::{Amounts, Bounds, Resource};
use crate::names::{Namespace, QueueName, QueueUid};
use crate::reasons::{ShortReason, StallReason};
use crate::snapshot::Targets;
use crate::time::{Timestamp, earliest};

/// One decision for the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The resources that are governed, in order.
    pub resources: Vec<Resource>,
    /// What there is to share: C.
    pub capacity: Amounts,
    /// The requests of bound pods, by namespace without a share: they reduce the capacity.
    pub unmanaged: BTreeMap<Namespace, Amounts>,
    /// Every Queue that has a share: those that govern their namespace, and the parents above them.
    pub queues: BTreeMap<QueueName, QueuePlan>,
    /// Every Queue that has no share, and what its administrator has to mend.
    pub stalled: BTreeMap<QueueName, Stall>,
    /// Every QueueJob, with its slots.
    pub queue_jobs: BTreeMap<QueueJobName, QueueJobPlan>,
    /// The pods to evict now, in this order: their queue's lowered quota is in force.
    pub evictions: Vec<Eviction>,
    /// The pods to evict as soon as their queue's lowered quota is in force.
    pub waiting: Vec<Eviction>,
    /// The pods that this plan would evict if the mode of their queue and of the beneficiary were Full and neither were
    /// paused, in this order. Nothing evicts them.
    pub withheld: Vec<Eviction>,
    /// The terminating pods to evict again with less grace: without any where they are past their deadline by more than
    /// `eviction.forceAfterSeconds`; with the cap of their queue where they have more and another queue lacks their room.
    pub shortened: Vec<Eviction>,
    /// The scheduling gates to remove, in this order.
    pub gate_removals: Vec<GateRemoval>,
    /// Terminating pods of governed namespaces that are so long past their deadline that they will hardly go by
    /// themselves. They keep what they hold.
    pub overdue: Vec<PodId>,
    /// When the first of the terminating pods of each queue began to terminate, whatever its grace.
    pub terminating_since: BTreeMap<QueueName, Timestamp>,
    /// The owners to scale: down for pods of a higher priority in the same queue, first in this order, and up again where
    /// there is room.
    pub scalings: Vec<Scaling>,
    /// The pods that a rule protected where something was taken, by queue and pod.
    pub passed_over: Vec<PassedOver>,
    /// The quotas to restore to what was granted, of Queues that govern their namespace and have no share.
    pub retained: BTreeMap<QueueName, QuotaWrite>,
    /// The targets to keep in the ledger; none where every target is the deserved share.
    pub targets: Option<Arc<Targets>>,
    /// A queue whose evictions wait only until some quota is seen to take effect: its quota is to be counted anew.
    pub unproven: Option<QueueName>,
    /// Why this plan shrinks no quota and evicts no pod, if so.
    pub held: Option<ShortReason>,
    /// The earliest time at which another plan might be made although nothing happens: demand that falls, a pod that
    /// has waited too long or run long enough, a delay that is over. None if nothing but the clock would change.
    ///
    /// Until then and until `next_try` the plan is the same at every instant, once the snapshot remembers what
    /// [`QueuePlan::remember`] says.
    pub next_change: Option<Timestamp>,
    /// When a workload that is set aside counts again, or is trusted again.
    pub next_try: Option<Timestamp>,
}

impl Plan {
    /// When to plan again although nothing happens.
    pub fn due(&self) -> Option<Timestamp> {
        earliest(self.next_change, self.next_try)
    }
}

/// Why a Queue has no share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The Queue's id.
    pub uid: QueueUid,
    /// The generation of the spec that was looked at.
    pub generation: i64,
    /// The kind of trouble.
    pub reason: StallReason,
    /// What is wrong and what to do, for its administrator.
    pub message: Arc<str>,
}

impl Plan {
    /// Every governed resource with its amount, zeros included: what a quota says that allows `amounts`.
    pub fn bounds(&self, amounts: &Amounts) -> Bounds {
        self.resources.iter().map(|resource| (resource.clone(), amounts.get(resource))).collect()
    }

    /// The queues that govern pods.
    pub fn leaves(&self) -> impl Iterator<Item = (&QueueName, &QueuePlan)> {
        self.queues.iter().filter(|(_, queue)| !queue.is_parent)
    }

    /// The quotas to write: those that lower something first, each group by queue.
    pub fn quota_writes(&self) -> impl Iterator<Item = (&QueueName, &QuotaWrite)> {
        let shares =
            || self.queues.iter().filter_map(|(name, queue)| Some((name, queue.quota_write.as_ref()?)));
        let writes = || self.retained.iter().chain(shares());
        writes().filter(|(_, write)| write.lowers).chain(writes().filter(|(_, write)| !write.lowers))
    }

    /// The id of the Queue of this name, whether it has a share or not.
    pub fn uid(&self, queue: &QueueName) -> Option<&QueueUid> {
        self.life(queue).map(|(uid, _)| uid)
    }

    /// The id of the Queue `queue`, and the generation of the spec that was decided on.
    pub fn life(&self, queue: &QueueName) -> Option<(&QueueUid, i64)> {
        let stalled = || self.stalled.get(queue).map(|stall| (&stall.uid, stall.generation));
        self.queues.get(queue).map(|queue| (&queue.uid, queue.generation)).or_else(stalled)
    }

    /// Whether nothing is to be written or evicted, now or later.
    pub fn is_settled(&self) -> bool {
        self.quota_writes().next().is_none()
            && self.shortened.is_empty()
            && self.evictions.is_empty()
            && self.waiting.is_empty()
            && self.scalings.is_empty()
            && self.gate_removals.is_empty()
    }

    /// Whether no queue waits for pods to end either.
    pub fn is_calm(&self) -> bool {
        self.is_settled() && self.queues.values().all(|queue| queue.preempting.is_empty())
    }
}
