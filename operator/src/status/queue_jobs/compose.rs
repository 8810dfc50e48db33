//! The status of a QueueJob from a plan.

use k8s_openapi::jiff::Timestamp;
use quotient_crds::{QueueJobStatus, merge_conditions};
use quotient_engine::plan::QueueJobPlan;
use quotient_index::queue_jobs::ObservedQueueJob;

use super::conditions::conditions;
use crate::message::{count, texts};
use crate::status::remembered::time;

/// What its status is to be where this one is `stored`; `now` becomes the time of those conditions that change.
pub(super) fn compose(
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    stored: &QueueJobStatus,
    refused: Option<&str>,
    now: Timestamp,
) -> QueueJobStatus {
    let count = |number: u32| Some(count(number));
    let amounts = &decided.amounts;
    QueueJobStatus {
        observed_generation: observed.generation,
        state: Some(format!("{:?}", decided.phase)),
        min_available: count(decided.min_available),
        slots: count(decided.total()),
        deserved: Some(texts(amounts.deserved.iter())),
        allocated: Some(texts(amounts.allocated.iter())),
        used: Some(texts(amounts.used.iter())),
        preempting: Some(texts(amounts.preempting().iter())),
        pending: count(decided.pods.pending),
        running: count(decided.pods.running),
        succeeded: count(decided.succeeded),
        failed: count(decided.failed),
        terminating: count(decided.pods.terminating),
        start_failures: count(decided.start_failures).filter(|failures| *failures > 0),
        retry_at: decided.retry_at.map(time),
        conditions: merge_conditions(
            &stored.conditions,
            conditions(decided, observed, stored, refused),
            observed.generation,
            now,
        ),
    }
}
