//! What is kept of a QueueJob.

use quotient_engine::snapshot::QueueJob;

use super::observed::ObservedQueueJob;
use crate::priority_classes::AskedPriority;

/// What is kept of a QueueJob.
#[derive(Debug)]
pub(crate) struct QueueJobEntry {
    /// What its spec and its status say; what its Jobs say is left open.
    pub(crate) job: QueueJob,
    /// How its pods ask for a priority.
    pub(crate) asked: Option<AskedPriority>,
    /// What the operator needs to know of it; its tasks' Jobs are left open.
    pub(crate) observed: ObservedQueueJob,
}
