//! A pod to evict, and the numbers that justify it.

use crate::amounts::Amounts;
use crate::names::{Namespace, PodName, PodUid, QueueName};
use crate::reason::Reason;

/// One life of one pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodId {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its name.
    pub name: PodName,
    /// Its id; an eviction carries it, so that a successor of the same name is never hit.
    pub uid: PodUid,
}

/// Where in its life a victim stands, least intrusive to evict first (S-MCM).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It has not started: nothing is lost.
    NotRunning,
    /// It runs.
    Committed,
}

/// One pod to evict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The pod.
    pub pod: PodId,
    /// The queue that loses it.
    pub queue: QueueName,
    /// The queue that is short of what the pod holds; none where the cluster itself is exceeded.
    pub beneficiary: Option<QueueName>,
    /// Why.
    pub reason: Reason,
    /// Where in its life it stands.
    pub stage: Stage,
    /// Its priority.
    pub priority: i32,
    /// What it frees.
    pub requests: Amounts,
    /// What its queue uses.
    pub used: Amounts,
    /// What its queue deserves.
    pub deserved: Amounts,
}
