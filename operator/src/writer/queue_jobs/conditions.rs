//! The conditions of a QueueJob, in words.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionReport, ConditionStatus, QueueJobCondition, QueueJobStatus};
use quotient_engine::plan::{QueueJobPlan, SlotReason, Standing};
use quotient_index::queue_jobs::{JobEnd, ObservedQueueJob};

type Report = ConditionReport<QueueJobCondition>;

/// What is to be said of a QueueJob; `refused` is what the API server said against one of its Jobs.
pub(super) fn conditions(
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    refused: Option<&str>,
) -> Vec<Report> {
    let former = observed.status.as_ref();
    let mut all = vec![admitted(decided, observed, refused), gang_ready(decided), suspended(decided)];
    all.push(preempted(decided, former));
    let is_complete = decided.standing == Standing::Complete;
    all.push(report(
        QueueJobCondition::Complete,
        is_complete,
        if is_complete { "Succeeded" } else { "NotComplete" },
        if is_complete { "every pod of every task has succeeded" } else { "" },
    ));
    all.extend(failed(decided, observed));
    all
}

fn admitted(decided: &QueueJobPlan, observed: &ObservedQueueJob, refused: Option<&str>) -> Report {
    let wanted = QueueJobCondition::Admitted;
    if let Some(why) = refused {
        return report(wanted, false, "JobRefused", &format!("the API server refused a Job of it: {why}"));
    }
    let replicas = observed.tasks.iter().map(|task| task.replicas).fold(0, u32::saturating_add);
    let left = replicas.saturating_sub(decided.succeeded);
    let lacks = decided.min_available.saturating_sub(decided.succeeded).max(1);
    let queue = decided.queue.as_ref().map(ToString::to_string).unwrap_or_default();
    let holds = matches!(decided.standing, Standing::Starting | Standing::Running);
    let message = match decided.reason {
        _ if holds => format!("may run {} of {left} pods that are left", decided.total()),
        SlotReason::Admitted | SlotReason::WaitingForRoom => {
            format!(
                "the gang needs room for {lacks} pods at once, and other pods of queue {queue} hold too much of it"
            )
        }
        SlotReason::GangAboveShare => format!(
            "the gang needs room for {lacks} pods at once, and queue {queue} has less than that for all its QueueJobs: \
             lower minAvailable, or have the queue get a larger share"
        ),
        SlotReason::WaitingForQuota => {
            "it is to have its slots, and waits for pods to leave or a quota to rise".to_owned()
        }
        SlotReason::StartTimeout => format!(
            "it had its slots and did not run within startTimeoutSeconds, {} times in a row: status.retryAt says when it \
             tries again",
            decided.start_failures,
        ),
        SlotReason::NoQueue => "no Queue governs this namespace: create one".to_owned(),
        SlotReason::QueueStalled => {
            "the Queue of this namespace has no share: its condition Stalled says what to mend".to_owned()
        }
        SlotReason::InvalidSpec => decided.problem.as_deref().unwrap_or_default().to_owned(),
        SlotReason::Suspended => "spec.suspend says that it is to have no slots".to_owned(),
        SlotReason::Finished => "it needs no slots any more".to_owned(),
    };
    report(wanted, holds, if holds { "Admitted" } else { decided.reason.name() }, &message)
}

fn gang_ready(decided: &QueueJobPlan) -> Report {
    let ready = matches!(decided.standing, Standing::Running | Standing::Complete);
    let reason = if ready { "MinAvailable" } else { "BelowMinAvailable" };
    let message = if ready { "" } else { "fewer pods run or have succeeded than minAvailable" };
    report(QueueJobCondition::GangReady, ready, reason, message)
}

fn suspended(decided: &QueueJobPlan) -> Report {
    let suspended = decided.standing == Standing::Suspended;
    let reason = if suspended { "SuspendedBySpec" } else { "NotSuspended" };
    report(QueueJobCondition::Suspended, suspended, reason, "")
}

/// It has lost slots until it has as many again, or needs them no more.
fn preempted(decided: &QueueJobPlan, former: Option<&QueueJobStatus>) -> Report {
    let wanted = QueueJobCondition::Preempted;
    let slots: u32 = decided.slots.iter().copied().fold(0, u32::saturating_add);
    if decided.loses {
        let message = format!("others need some of its slots: {slots} are left to it");
        return report(wanted, true, "SlotsTaken", &message);
    }
    let stood = former.and_then(|status| status.condition(wanted)).filter(|stood| stood.status == "True");
    let before = former.and_then(|status| status.slots).unwrap_or_default();
    let grew = i64::from(decided.total()) > i64::from(before);
    let lasts = matches!(decided.standing, Standing::Waiting | Standing::Starting | Standing::Running);
    match stood.filter(|_| lasts && !grew) {
        Some(Condition { reason, message, .. }) => report(wanted, true, reason, message),
        None => report(wanted, false, "NotPreempted", ""),
    }
}

/// None where it has failed and nobody remembers why but its status.
fn failed(decided: &QueueJobPlan, observed: &ObservedQueueJob) -> Option<Report> {
    let wanted = QueueJobCondition::Failed;
    if decided.standing != Standing::Failed {
        return Some(report(wanted, false, "NotFailed", ""));
    }
    let ends = observed.tasks.iter().filter_map(|task| match &task.job.as_ref()?.end {
        Some(JobEnd::Failed(reason, message)) => Some((&task.name, reason, message)),
        _ => None,
    });
    let (task, reason, message) = ends.into_iter().next()?;
    let reason = if reason.is_empty() { "TaskFailed" } else { reason };
    Some(report(wanted, true, reason, &format!("the task {task} has failed: {message}")))
}

fn report(condition: QueueJobCondition, holds: bool, reason: &str, message: &str) -> Report {
    Report {
        condition,
        status: ConditionStatus::from(holds),
        reason: reason.to_owned(),
        message: message.to_owned(),
    }
}
