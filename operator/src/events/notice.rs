//! What happens to queues, QueueJobs and pods, with the numbers that explain it.

use std::fmt;
use std::sync::Arc;

use quotient_engine::amounts::{Amounts, Bounds};
use quotient_engine::names::{PodName, QueueJobUid, QueueName};
use quotient_engine::plan::{QueueJobName, Scaling, SlotReason};

use super::Reclaimed;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A queue's quota was written. Of a quota that rises in steps, it stopped rising: it has what it is to have for now.
    QuotaWritten {
        /// The queue.
        queue: QueueName,
        /// What it allowed before it was written, or began to rise; none if there was none.
        before: Option<Bounds>,
        /// What it allows now.
        after: Bounds,
        /// Whether anything was lowered.
        lowers: bool,
    },
    /// The quota of a queue was restored after an edit by another writer.
    QuotaRepaired {
        /// The queue.
        queue: QueueName,
        /// What had been done to it.
        change: Change,
        /// What it allowed then; none if there was none.
        before: Option<Bounds>,
        /// What it allows now.
        after: Bounds,
    },
    /// Pods are to be evicted for a queue.
    ReclaimPlanned {
        /// The queue that is starved.
        queue: QueueName,
        /// The amounts that its quota allows.
        allocated: Amounts,
        /// The amounts that it deserves, in whole pods.
        deserved: Amounts,
        /// How many pods, by the queue that loses them.
        pods: Vec<(QueueName, usize)>,
    },
    /// A pod, or pods of a workload, were evicted.
    Reclaimed(Box<Reclaimed>),
    /// They would be if no mode and no pause withheld it.
    WouldReclaim(Box<Reclaimed>),
    /// An owner's size was changed, for others of its queue or because there is room again.
    Scaled(Arc<Scaling>),
    /// Pods that were long past their deadline were deleted without grace.
    ForceDeleted {
        /// Their queue, which wants that.
        queue: QueueName,
        /// The pods, by name.
        pods: Vec<PodName>,
    },
    /// A QueueJob has other slots, or waits for another reason.
    QueueJob {
        /// Its name.
        name: QueueJobName,
        /// Its id.
        uid: QueueJobUid,
        /// What is news.
        news: JobNews,
    },
    /// What the containers of a queue request that do not say it was written.
    DefaultRequestsWritten {
        /// The queue.
        queue: QueueName,
        /// The defaults; none if there are to be none any more.
        defaults: Bounds,
    },
    /// It could not be written.
    DefaultRequestsRefused {
        /// The queue.
        queue: QueueName,
        /// Why, and what to do.
        why: String,
    },
}

/// What is news of a QueueJob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobNews {
    /// It has slots, which it had none of before.
    Admitted {
        /// How many.
        slots: u32,
        /// How many of its pods have not succeeded yet.
        left: u32,
    },
    /// It has more slots, or fewer.
    Resized {
        /// How many it had.
        from: u32,
        /// How many it has.
        to: u32,
    },
    /// It waits, or has lost all its slots and waits again.
    Waits {
        /// How many slots it had.
        from: u32,
        /// For what.
        why: SlotReason,
        /// The same in a sentence.
        because: String,
    },
    /// The API server refused a Job of it, in its words.
    Refused(String),
    /// It gave its slots up because its spec says so.
    Suspended,
    /// All its pods have succeeded.
    Complete,
    /// A task of it has failed.
    Failed,
}

/// What was done to a quota that we wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its amounts, its annotations or its owner are not what we wrote.
    Edited {
        /// The manager that wrote its amounts last, as the API server remembers it, if not Quotient.
        by: Option<Arc<str>>,
    },
    /// It is gone, or another one is in its place.
    Deleted,
}

impl Change {
    /// The name in metrics.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Edited { .. } => "Edited",
            Self::Deleted => "Deleted",
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Edited { by: Some(by) } => write!(formatter, "edited by {by}"),
            Self::Edited { by: None } => formatter.write_str("edited by another writer"),
            Self::Deleted => formatter.write_str("deleted by another writer"),
        }
    }
}
