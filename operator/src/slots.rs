//! What a QueueJob may run, or why it has no slots, in the words of its condition, of its events and of the command line.

use quotient_engine::plan::{QueueJobPlan, SlotReason};

/// That `job` has slots.
pub(crate) fn admitted(job: &QueueJobPlan) -> String {
    format!("The QueueJob may run {} of the {} pods that have not succeeded.", job.total(), job.left)
}

/// What `job` waits for, and what ends the wait.
pub fn why_it_waits(job: &QueueJobPlan) -> String {
    let lacks = job.min_available.saturating_sub(job.succeeded).max(1);
    let queue = job.queue.as_ref().map(ToString::to_string).unwrap_or_default();
    match job.reason {
        SlotReason::Admitted | SlotReason::WaitingForRoom => format!(
            "The gang needs room for {lacks} pods at once, and other pods of queue {queue} use too much. It starts when they end."
        ),
        SlotReason::GangAboveShare => format!(
            "The gang needs room for {lacks} pods at once, and queue {queue} has less for all of its QueueJobs. Lower \
             minAvailable, or raise the share of the queue."
        ),
        SlotReason::WaitingForQuota => {
            "The QueueJob gets its slots when other pods have ended or the higher quota is enforced."
                .to_owned()
        }
        SlotReason::StartTimeout => {
            let times = job.start_failures;
            let in_a_row = if times > 1 { format!(", {times} times in a row") } else { String::new() };
            format!(
                "The pods did not run within startTimeoutSeconds{in_a_row}. The QueueJob tries again at status.retryAt. See the \
                 events of its pods."
            )
        }
        SlotReason::NoQueue => "The namespace has no Queue. Create one.".to_owned(),
        SlotReason::QueueStalled => {
            "The Queue of the namespace has no share. Its condition Stalled says what to repair.".to_owned()
        }
        SlotReason::InvalidSpec => {
            job.problem.as_deref().unwrap_or("The spec cannot be understood.").to_owned()
        }
        SlotReason::Suspended => "The QueueJob has no slots because spec.suspend is true.".to_owned(),
        SlotReason::Finished => "The QueueJob has ended and needs no slots.".to_owned(),
    }
}
