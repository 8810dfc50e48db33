//! What happens to queues and pods, with the numbers that explain it.

use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::{Namespace, PodName, QueueName};
use quotient_engine::plan::{Eviction, Plan, PodId, QueuePlan};
use quotient_engine::reason::Reason;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A queue's quota was written.
    QuotaWritten {
        /// The queue.
        queue: QueueName,
        /// What it allowed before; none if there was none.
        before: Option<Bounds>,
        /// What it allows now.
        after: Bounds,
        /// Whether anything was lowered.
        lowers: bool,
    },
    /// A queue's quota stopped rising: it has what it is to have for now.
    QuotaRaised {
        /// The queue.
        queue: QueueName,
        /// What it allowed before it began to rise; none if there was none.
        before: Option<Bounds>,
        /// What it allows now.
        after: Bounds,
    },
    /// Pods are to be evicted for a queue.
    PreemptionPlanned {
        /// The queue that is short.
        queue: QueueName,
        /// What it is short of.
        short_of: Amounts,
        /// How many pods, by the queue that loses them.
        pods: Vec<(QueueName, usize)>,
    },
    /// A pod was evicted.
    Preempted(Box<Preempted>),
    /// Pods that were long past their deadline were deleted without grace.
    ForceDeleted {
        /// Their queue, which wants that.
        queue: QueueName,
        /// The pods, by name.
        pods: Vec<PodName>,
    },
    /// A quota that a Queue left behind was lowered to what is charged.
    OrphanLowered {
        /// Its namespace.
        namespace: Namespace,
        /// What it allowed before.
        before: Option<Bounds>,
        /// What it allows now.
        after: Bounds,
    },
    /// A quota that a Queue left behind was removed.
    OrphanRemoved {
        /// Its namespace.
        namespace: Namespace,
    },
}

/// A pod that was evicted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preempted {
    /// The pod.
    pub pod: PodId,
    /// Its queue.
    pub queue: QueueName,
    /// For whom; none where the cluster itself is exceeded.
    pub beneficiary: Option<QueueName>,
    /// What the beneficiary is short of.
    pub short_of: Amounts,
    /// Why.
    pub reason: Reason,
    /// What its queue uses.
    pub used: Amounts,
    /// What its queue deserves.
    pub deserved: Amounts,
}

impl Happening {
    /// The pod of `eviction`, which is part of `plan`, was evicted.
    pub fn evicted(plan: &Plan, eviction: &Eviction) -> Self {
        let beneficiary = eviction.beneficiary.as_ref().and_then(|name| plan.queues.get(name));
        // Of what the beneficiary lacks, only what this queue holds too much of explains the eviction.
        let over = eviction.used.less(&eviction.deserved);
        let lacks = |queue: &QueuePlan| {
            over.resources().map(|resource| (resource.clone(), queue.preempting.get(resource))).collect()
        };
        Self::Preempted(Box::new(Preempted {
            pod: eviction.pod.clone(),
            queue: eviction.queue.clone(),
            beneficiary: eviction.beneficiary.clone(),
            short_of: beneficiary.map(lacks).unwrap_or_default(),
            reason: eviction.reason,
            used: eviction.used.clone(),
            deserved: eviction.deserved.clone(),
        }))
    }
}
