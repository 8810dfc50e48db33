//! The conditions of a QueueJob, in words.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionReport, QueueJobCondition, QueueJobStatus};
use quotient_engine::plan::{QueueJobPhase, QueueJobPlan};
use quotient_index::queue_jobs::{JobEnd, ObservedQueueJob};

use crate::message::{MOST, message as bounded};
use crate::slots::{self, why_it_waits};

type Report = ConditionReport<QueueJobCondition>;

/// What is to be said of a QueueJob; `stored` is its status, and `refused` is what the API server said against one of its Jobs.
pub(super) fn conditions(
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    stored: &QueueJobStatus,
    refused: Option<&str>,
) -> Vec<Report> {
    let is_complete = decided.phase == QueueJobPhase::Complete;
    let (reason, message) = match decided.phase {
        QueueJobPhase::Complete => ("Succeeded", "Every pod of every task has succeeded."),
        _ => ("NotComplete", ""),
    };
    let always = [
        admitted(decided, refused),
        gang_ready(decided),
        suspended(decided),
        preempted(decided, stored),
        report(QueueJobCondition::Complete, is_complete, reason, message),
    ];
    always.into_iter().chain(failed(decided, observed)).collect()
}

fn admitted(decided: &QueueJobPlan, refused: Option<&str>) -> Report {
    let wanted = QueueJobCondition::Admitted;
    if let Some(why) = refused {
        return report(
            wanted,
            false,
            "JobRefused",
            &format!("The API server refused a Job of the QueueJob: {}", without_policy(why)),
        );
    }
    let holds = matches!(decided.phase, QueueJobPhase::Starting | QueueJobPhase::Running);
    let message = if holds { slots::admitted(decided) } else { why_it_waits(decided) };
    report(wanted, holds, if holds { "Admitted" } else { decided.reason.name() }, &message)
}

fn gang_ready(decided: &QueueJobPlan) -> Report {
    let ready = matches!(decided.phase, QueueJobPhase::Running | QueueJobPhase::Complete);
    let reason = if ready { "MinAvailable" } else { "BelowMinAvailable" };
    let message = if ready { "" } else { "Fewer pods than minAvailable run or have succeeded." };
    report(QueueJobCondition::GangReady, ready, reason, message)
}

fn suspended(decided: &QueueJobPlan) -> Report {
    let suspended = decided.phase == QueueJobPhase::Suspended;
    let reason = if suspended { "SuspendedBySpec" } else { "NotSuspended" };
    report(QueueJobCondition::Suspended, suspended, reason, "")
}

/// It has lost slots until it has as many again, or needs them no more.
fn preempted(decided: &QueueJobPlan, stored: &QueueJobStatus) -> Report {
    let wanted = QueueJobCondition::Preempted;
    let slots: u32 = decided.slots.iter().copied().fold(0, u32::saturating_add);
    if decided.loses {
        let message = format!("Other pods need some of the slots. The QueueJob keeps {slots}.");
        return report(wanted, true, "SlotsTaken", &message);
    }
    let stood = stored.condition(wanted).filter(|stood| stood.status == "True");
    let before = stored.slots.unwrap_or_default();
    let grew = i64::from(decided.total()) > i64::from(before);
    let lasts =
        matches!(decided.phase, QueueJobPhase::Waiting | QueueJobPhase::Starting | QueueJobPhase::Running);
    match stood.filter(|_| lasts && !grew) {
        Some(Condition { reason, message, .. }) => report(wanted, true, reason, message),
        None => report(wanted, false, "NotPreempted", ""),
    }
}

/// None where it has failed and only its status says why.
fn failed(decided: &QueueJobPlan, observed: &ObservedQueueJob) -> Option<Report> {
    let wanted = QueueJobCondition::Failed;
    if decided.phase != QueueJobPhase::Failed {
        return Some(report(wanted, false, "NotFailed", ""));
    }
    let ends = observed.tasks.iter().filter_map(|task| match &task.job.as_ref()?.end {
        Some(JobEnd::Failed(reason, message)) => Some((&task.name, reason, message)),
        _ => None,
    });
    let (task, reason, message) = ends.into_iter().next()?;
    let reason = if is_reason(reason) { reason } else { "TaskFailed" };
    Some(report(wanted, true, reason, &format!("Task {task} has failed: {message}")))
}

/// Whether the API server takes `text` as the reason of a condition. It comes from the status of a Job, where any text may stand,
/// and one bad reason would keep all of the status from being written.
fn is_reason(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_,:".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    let ends = text.bytes().next_back().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    text.len() <= MOST && begins && ends && text.bytes().all(is_inner)
}

/// `said` without the names of the policy and its binding, which stand before the reason and say nothing to a tenant.
fn without_policy(said: &str) -> &str {
    said.split_once("denied request: ").map_or(said, |(_, why)| why)
}

fn report(condition: QueueJobCondition, holds: bool, reason: &str, message: &str) -> Report {
    Report { condition, holds, reason: reason.to_owned(), message: bounded([message.to_owned()]) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quotient_index::queue_jobs::{ObservedTask, ObservedTaskJob};

    use super::*;

    /// A QueueJob whose only Job has ended like this.
    fn failed_with(reason: &str, message: &str) -> Report {
        let end = JobEnd::Failed(reason.into(), message.into());
        let job = ObservedTaskJob { uid: "j".into(), end: Some(end), ..ObservedTaskJob::default() };
        let task = ObservedTask { name: "w".into(), replicas: 1, template: Arc::from("t"), job: Some(job) };
        let observed = ObservedQueueJob {
            uid: "q".into(),
            resource_version: None,
            generation: Some(1),
            deleting: false,
            ttl_seconds_after_finished: None,
            status: None,
            ended: None,
            tasks: vec![task],
        };
        let decided = QueueJobPlan { phase: QueueJobPhase::Failed, ..QueueJobPlan::default() };
        failed(&decided, &observed).unwrap()
    }

    #[test]
    fn texts_of_a_job_are_bounded() {
        let condition = failed_with("BackoffLimitExceeded", "Job has failed");
        assert_eq!(
            (condition.reason.as_str(), condition.message.as_str()),
            ("BackoffLimitExceeded", "Task w has failed: Job has failed")
        );
        for reason in ["", "two words", "1st", "a-b", "ends:", &"x".repeat(2000)] {
            assert_eq!(failed_with(reason, "").reason, "TaskFailed", "{reason:?}");
        }
        assert_eq!(failed_with("A", &"long ".repeat(9000)).message.chars().count(), MOST);
    }

    #[test]
    fn what_a_policy_says_is_told_without_its_name() {
        let said = "jobs.batch \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: because";
        assert_eq!(without_policy(said), "because");
        assert_eq!(without_policy("as it is"), "as it is");
    }
}
