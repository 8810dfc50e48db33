//! From a plan to the statuses that users read.
//!
//! Pure: plan and former status in, new status out. When it is written is decided by [`pace`], what is sent by [`patch`]; both
//! are pure, too. A task of its own writes the statuses of Queues, and the writer those of QueueJobs.

mod blocked;
mod changes;
mod compose;
mod conditions;
mod pace;
mod patch;
mod queue_jobs;
mod remembered;
mod state;
mod task;
#[cfg(test)]
mod tests;
mod unmet;
mod withheld;

pub use blocked::Blocked;
pub(crate) use blocked::{RefusedEviction, blocked_queues};
pub use compose::{Overview, compose};
pub use conditions::{Circumstances, QuotaState};
pub(crate) use queue_jobs::JobStatuses;
pub use task::{Report, Statuses};
pub use unmet::why_unmet;
pub use withheld::cause;
