//! QueueJobs, and the Jobs that they have.
//!
//! A QueueJob and its Jobs come from two watches, in any order. Each is kept as it was seen; whenever one of them changes,
//! what snapshots show of the QueueJob is put together anew: its entry, and an owner for each of its tasks, which wants as
//! many pods as have not succeeded, whatever its Job may run now.

mod job_body;
mod observed;

pub use job_body::job_body;
pub use observed::{
    JobEnd, ObservedQueueJob, ObservedTask, ObservedTaskJob, StoredStatus, job_name, task_hash,
};
pub(crate) use observed::{QueueJobEntry, TaskJob, end, task_job};
