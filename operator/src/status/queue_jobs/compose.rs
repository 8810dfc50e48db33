//! The status of a QueueJob from a plan.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;
use quotient_crds::{QueueJobState, QueueJobStatus, ResourceMap, merge_conditions, stored_time};
use quotient_engine::amounts::Amounts;
use quotient_engine::plan::{QueueJobPhase, QueueJobPlan};
use quotient_engine::time::Timestamp as Instant;
use quotient_index::queue_jobs::ObservedQueueJob;

use super::conditions::conditions;

/// What its status is to be where this one is `stored`; `now` becomes the time of those conditions that change.
pub(super) fn compose(
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    stored: &QueueJobStatus,
    refused: Option<&str>,
    now: Timestamp,
) -> QueueJobStatus {
    let count = |number: u32| Some(i32::try_from(number).unwrap_or(i32::MAX));
    let amounts = &decided.amounts;
    QueueJobStatus {
        observed_generation: observed.generation,
        state: Some(match decided.phase {
            QueueJobPhase::Waiting => QueueJobState::Waiting,
            QueueJobPhase::Starting => QueueJobState::Starting,
            QueueJobPhase::Running => QueueJobState::Running,
            QueueJobPhase::Suspended => QueueJobState::Suspended,
            QueueJobPhase::Complete => QueueJobState::Complete,
            QueueJobPhase::Failed => QueueJobState::Failed,
        }),
        min_available: count(decided.min_available),
        slots: count(decided.total()),
        deserved: Some(map(&amounts.deserved)),
        allocated: Some(map(&amounts.allocated)),
        used: Some(map(&amounts.used)),
        preempting: Some(map(&amounts.preempting())),
        pending: count(decided.pods.pending),
        running: count(decided.pods.running),
        succeeded: count(decided.succeeded),
        failed: count(decided.failed),
        terminating: count(decided.pods.terminating),
        start_failures: count(decided.start_failures).filter(|failures| *failures > 0),
        retry_at: decided.retry_at.and_then(time),
        conditions: merge_conditions(
            &stored.conditions,
            &conditions(decided, observed, stored, refused),
            observed.generation,
            now,
        ),
    }
}

fn time(instant: Instant) -> Option<Time> {
    Timestamp::from_millisecond(instant.millis()).ok().map(stored_time)
}

fn map(amounts: &Amounts) -> ResourceMap {
    amounts.iter().map(|(resource, amount)| (resource.name().to_owned(), resource.format(amount))).collect()
}
