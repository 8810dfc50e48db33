//! The conditions of a QueueJob, in words.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use quotient_crds::{ConditionReport, QueueJobCondition, QueueJobStatus};
use quotient_engine::plan::{QueueJobPhase, QueueJobPlan};
use quotient_index::queue_jobs::{JobEnd, ObservedQueueJob};

use crate::message::{MOST, message as bounded};
use crate::slots::{self, why_it_waits};

/// What is to be said of a QueueJob; `stored` is its status, and `refused` is what the API server said against one of its Jobs.
pub(super) fn conditions(
    decided: &QueueJobPlan,
    observed: &ObservedQueueJob,
    stored: &QueueJobStatus,
    refused: Option<&str>,
) -> impl Iterator<Item = (&'static str, ConditionReport)> {
    let reports = [
        (QueueJobCondition::Admitted, Some(admitted(decided, refused))),
        (QueueJobCondition::GangReady, Some(gang_ready(decided))),
        (QueueJobCondition::Preempted, Some(preempted(decided, stored))),
        (QueueJobCondition::Suspended, Some(suspended(decided))),
        (QueueJobCondition::Complete, Some(complete(decided))),
        (QueueJobCondition::Failed, failed(decided, observed)),
    ];
    reports.into_iter().filter_map(|(condition, report)| Some((condition.as_str(), report?)))
}

fn admitted(decided: &QueueJobPlan, refused: Option<&str>) -> ConditionReport {
    if let Some(why) = refused {
        let why = without_policy(why);
        return report(false, "JobRefused", format!("The API server refused a Job of the QueueJob: {why}"));
    }
    match decided.phase {
        QueueJobPhase::Starting | QueueJobPhase::Running => {
            report(true, "Admitted", slots::admitted(decided))
        }
        _ => report(false, decided.reason.name(), why_it_waits(decided)),
    }
}

fn gang_ready(decided: &QueueJobPlan) -> ConditionReport {
    match decided.phase {
        QueueJobPhase::Running | QueueJobPhase::Complete => report(true, "MinAvailable", ""),
        _ => report(false, "BelowMinAvailable", "Fewer pods than minAvailable run or have succeeded."),
    }
}

/// From when it loses slots until it gets more or needs them no more.
fn preempted(decided: &QueueJobPlan, stored: &QueueJobStatus) -> ConditionReport {
    let slots: u32 = decided.slots.iter().copied().fold(0, u32::saturating_add);
    if decided.loses {
        let message = format!("Other pods need some of the slots. The QueueJob keeps {slots}.");
        return report(true, "SlotsTaken", message);
    }
    let stood = stored.condition(QueueJobCondition::Preempted).filter(|stood| stood.status == "True");
    let before = stored.slots.unwrap_or_default();
    let grew = i64::from(decided.total()) > i64::from(before);
    let lasts =
        matches!(decided.phase, QueueJobPhase::Waiting | QueueJobPhase::Starting | QueueJobPhase::Running);
    match stood.filter(|_| lasts && !grew) {
        Some(Condition { reason, message, .. }) => report(true, reason, message),
        None => report(false, "NotPreempted", ""),
    }
}

fn suspended(decided: &QueueJobPlan) -> ConditionReport {
    match decided.phase {
        QueueJobPhase::Suspended => report(true, "SuspendedBySpec", ""),
        _ => report(false, "NotSuspended", ""),
    }
}

fn complete(decided: &QueueJobPlan) -> ConditionReport {
    match decided.phase {
        QueueJobPhase::Complete => report(true, "Succeeded", "Every pod of every task has succeeded."),
        _ => report(false, "NotComplete", ""),
    }
}

/// None where it has failed and only its status says why.
fn failed(decided: &QueueJobPlan, observed: &ObservedQueueJob) -> Option<ConditionReport> {
    if decided.phase != QueueJobPhase::Failed {
        return Some(report(false, "NotFailed", ""));
    }
    let (task, reason, message) = observed.tasks.iter().find_map(|task| match &task.job.as_ref()?.end {
        Some(JobEnd::Failed(reason, message)) => Some((&task.name, reason, message)),
        _ => None,
    })?;
    let reason = if is_reason(reason) { reason } else { "TaskFailed" };
    Some(report(true, reason, format!("Task {task} has failed: {message}")))
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

fn report(holds: bool, reason: &str, message: impl Into<String>) -> ConditionReport {
    ConditionReport::new(holds, reason, bounded([message.into()]))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use quotient_index::queue_jobs::{ObservedTask, ObservedTaskJob};

    use super::*;

    /// A QueueJob whose only Job has ended like this.
    fn failed_with(reason: &str, message: &str) -> ConditionReport {
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
