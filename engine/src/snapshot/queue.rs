//! A Queue as its administrator wrote it.

use std::sync::Arc;

use super::Remembered;
use crate::amounts::Bounds;
use crate::labels::Selector;
use crate::names::{QueueName, QueueUid};
use crate::time::Timestamp;

/// What the engine needs to know of a Queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Its id for life.
    pub uid: QueueUid,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// When it was created: the oldest in a namespace governs it.
    pub created: Timestamp,
    /// Its weight among its siblings; 0 receives only what nobody else wants.
    pub weight: u32,
    /// What it asks for; `None` asks for everything it can get. In a stated request, cpu and memory that are
    /// not named are unbounded and other resources are not asked for. A parent asks for what its children ask.
    pub request: Option<Bounds>,
    /// Where its demand comes from.
    pub demand: DemandMode,
    /// Of observed demand: what is kept free above what is in use, so that creators nobody can foresee can start.
    /// `None` for the default.
    pub headroom: Option<Bounds>,
    /// Lower bound on its share, as far as it asks for that much.
    pub guaranteed: Bounds,
    /// Upper bound on its share.
    pub limit: Bounds,
    /// The queue that it takes its share from; `None` for the cluster itself.
    pub parent: Option<QueueName>,
    /// Whose parent it may be. `Some` makes it a parent, which governs no pods.
    pub children: Option<Acceptance>,
    /// Between whom pods below it are taken.
    pub policy: Policy,
    /// How long a pod has to have run before it may be taken while others suffice.
    pub min_runtime_seconds: u32,
    /// Whether the last replica of an owner may be taken.
    pub last_replica: LastReplica,
    /// Whether gangs may be taken as a whole.
    pub gang: GangPolicy,
    /// Whether owners of it yield to others of it that are of a higher priority.
    pub within_queue: WithinQueue,
    /// What makes others' pods go for it.
    pub reclaim: ReclaimOn,
    /// How long it has to have been short before pods are evicted for it.
    pub delay_seconds: u32,
    /// The grace that evicted pods of it are given; `None` for their own.
    pub grace_seconds: Option<u32>,
    /// How long past its deadline a terminating pod is evicted again, without grace; `None` for never.
    pub force_delete_after_seconds: Option<u32>,
    /// What earlier decisions left in its status.
    pub remembered: Remembered,
    /// Whether its quota is removed when it is deleted, rather than lowered to what is charged.
    pub removes_quota: bool,
    /// What is wrong with its spec, if it could not be understood; the text is for its administrator.
    pub invalid: Option<Arc<str>>,
}

impl Queue {
    /// Whether it has not been short for as long as it is to wait before pods go for it.
    pub(crate) fn is_delayed(&self, now: Timestamp) -> bool {
        let since = self.remembered.short_since.unwrap_or(now);
        now.millis_since(since) < i64::from(self.delay_seconds).saturating_mul(1000)
    }
}

/// Which namespaces' Queues a parent accepts as children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Acceptance {
    /// Those of its own namespace.
    Same,
    /// Those of every namespace.
    All,
    /// Those of namespaces with these labels.
    Selector(Selector),
}

/// Between whom pods are taken (S-HARDEN §Changes in fence selection).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Wherever somebody holds too much.
    #[default]
    Default,
    /// Queues at or below this one take pods only from queues at or below it.
    Fence,
    /// Pods at or below this one are never taken: overuse leaves by attrition.
    Disabled,
}

/// Whether the last replica of an owner may be taken (S-MCM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LastReplica {
    /// When nothing else is left.
    #[default]
    LastResort,
    /// Never.
    Never,
}

/// Where a queue's demand comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DemandMode {
    /// From its spec.
    #[default]
    Declared,
    /// From its pods and their owners.
    Observed,
}

/// Whether gangs may be taken as a whole (S-GANG: what a gang needs to run is never taken in part).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GangPolicy {
    /// Surplus first, then whole gangs.
    #[default]
    WholeLast,
    /// Only surplus.
    Never,
}

/// What makes others' pods go for a queue of declared demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReclaimOn {
    /// Its claim.
    #[default]
    Claim,
    /// Pods or owners of it that lack room.
    Use,
}

/// Whether pods of a queue yield to others of the same queue (S-MCM).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithinQueue {
    /// Whoever has the room keeps it.
    #[default]
    Never,
    /// Owners of a strictly lower priority are scaled down for pods that lack room.
    LowerPriority,
}
