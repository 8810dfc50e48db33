//! What one QueueJob gets, and where it stands.

use std::sync::Arc;

use crate::amounts::Amounts;
use crate::names::{Namespace, QueueJobUid, QueueName};
use crate::time::Timestamp;

use super::PodCounts;

/// A QueueJob's namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueJobName {
    /// The namespace that it is in.
    pub namespace: Namespace,
    /// Its name there.
    pub name: Arc<str>,
}

impl std::fmt::Display for QueueJobName {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(&format!("{}/{}", self.namespace, self.name))
    }
}

/// Where a QueueJob stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueJobPhase {
    /// It has no slots and waits for them.
    #[default]
    Waiting,
    /// It has its slots, and fewer pods run than it needs.
    Starting,
    /// As many run or have succeeded as it needs.
    Running,
    /// It asks for nothing.
    Suspended,
    /// All its pods have succeeded.
    Complete,
    /// One of its tasks has failed.
    Failed,
}

/// Why a QueueJob has its slots, or has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotReason {
    /// It has those that its gang needs.
    Admitted,
    /// Other pods of its queue hold what its gang needs.
    #[default]
    WaitingForRoom,
    /// Its gang needs more than its queue has for QueueJobs even if no other one ran.
    GangAboveShare,
    /// It is to have them, and waits until pods on their way out are gone or a higher quota is in force.
    WaitingForQuota,
    /// It had them and did not run in time: it tries again later.
    StartTimeout,
    /// No Queue governs its namespace.
    NoQueue,
    /// The Queue that governs its namespace has no share.
    QueueStalled,
    /// Its spec cannot be understood.
    InvalidSpec,
    /// Its spec says that it is to have none.
    Suspended,
    /// It needs none any more.
    Finished,
}

impl SlotReason {
    /// The stable CamelCase name used in conditions, events and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Admitted => "Admitted",
            Self::WaitingForRoom => "WaitingForRoom",
            Self::GangAboveShare => "GangAboveShare",
            Self::WaitingForQuota => "WaitingForQuota",
            Self::StartTimeout => "StartTimeout",
            Self::NoQueue => "NoQueue",
            Self::QueueStalled => "QueueStalled",
            Self::InvalidSpec => "InvalidSpec",
            Self::Suspended => "Suspended",
            Self::Finished => "Finished",
        }
    }
}

/// The numbers of one QueueJob after this decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueJobPlan {
    /// Its id.
    pub uid: QueueJobUid,
    /// The generation of the spec that was decided on.
    pub generation: i64,
    /// The queue that it takes its slots from; none if no queue with a share governs the namespace.
    pub queue: Option<QueueName>,
    /// Whether nothing of this is carried out: the mode of its queue, or the operator's, is Observe.
    pub withheld: bool,
    /// Where it stands.
    pub phase: QueueJobPhase,
    /// Why it waits, or that it has what it needs.
    pub reason: SlotReason,
    /// What is wrong with its spec, if it could not be understood.
    pub problem: Option<Arc<str>>,
    /// How many pods have to run or to have succeeded.
    pub min_available: u32,
    /// How many pods its Jobs may run until this is carried out.
    pub had: u32,
    /// How many pods of each task are to run in the end.
    pub slots: Vec<u32>,
    /// How many each task's Job may run now.
    pub parallelism: Vec<u32>,
    /// Whether its Jobs are suspended now.
    pub suspend: bool,
    /// Whether it has fewer slots than its Jobs have now.
    pub loses: bool,
    /// What it gets. Those that get nothing share one: a tenant may have 100,000 of them.
    pub amounts: Arc<JobAmounts>,
    /// Its pods.
    pub pods: PodCounts,
    /// How many have succeeded.
    pub succeeded: u32,
    /// How many have failed.
    pub failed: u32,
    /// How many pods have not succeeded yet.
    pub left: u32,
    /// How often in a row it had its slots and did not run in time.
    pub start_failures: u32,
    /// Until when it asks for no slots because of that.
    pub retry_at: Option<Timestamp>,
}

/// The amounts of one QueueJob.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct JobAmounts {
    /// What its slots request: its part of the queue's share.
    pub deserved: Amounts,
    /// What the pods request that its Jobs may run now.
    pub allocated: Amounts,
    /// What its pods request, pending and terminating ones included.
    pub used: Amounts,
}

impl JobAmounts {
    /// Promised and not brought yet, because pods that hold it are on their way out.
    pub fn preempting(&self) -> Amounts {
        self.deserved.less(&self.allocated)
    }
}

impl QueueJobPlan {
    /// Whether slots are given or taken.
    pub fn moves(&self) -> bool {
        self.total() != self.had
    }

    /// How many pods its Jobs may run now.
    pub fn total(&self) -> u32 {
        self.parallelism.iter().copied().fold(0, u32::saturating_add)
    }
}
