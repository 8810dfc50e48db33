//! Jobs: how many pods they want at once.

use k8s_openapi::api::batch::v1::{Job, JobSpec, JobStatus};
use k8s_openapi::api::core::v1::PodTemplateSpec;
use quotient_snapshot::OwnerKind;

use super::kind::{Outcome, OwnerObject};
use crate::queue_jobs::{TaskJob, task_job};
use crate::reading::count;

/// The conditions after which the Job controller creates no more pods: the Job has ended, or is about to.
const ENDS: [&str; 4] = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];

/// The one controller that creates pods here; a Job that names another runs elsewhere.
const CONTROLLER: &str = "kubernetes.io/job-controller";

impl OwnerObject for Job {
    const KIND: OwnerKind = OwnerKind::Job;

    fn wanted(&self) -> u32 {
        self.wanted_at(self.written())
    }

    fn written(&self) -> u32 {
        count(self.spec.as_ref().and_then(|spec| spec.parallelism).unwrap_or(1))
    }

    fn wanted_at(&self, size: u32) -> u32 {
        self.spec.as_ref().map(|spec| wanted(spec, self.status.as_ref(), size)).unwrap_or_default()
    }

    fn template(&self) -> Option<&PodTemplateSpec> {
        self.spec.as_ref().map(|spec| &spec.template)
    }

    /// A pod that is deleted or evicted counts as failed as soon as it terminates.
    fn outcome(&self) -> Outcome {
        let Some(status) = &self.status else { return Outcome::default() };
        let number = |number: Option<i32>| count(number.unwrap_or_default());
        Outcome {
            succeeded: number(status.succeeded),
            failed: number(status.failed).saturating_sub(number(status.terminating)),
            ready: number(status.ready),
        }
    }

    fn manual_selector(&self) -> Option<bool> {
        self.spec.as_ref().and_then(|spec| spec.manual_selector)
    }

    fn of_queue_job(&self) -> Option<TaskJob> {
        task_job(self)
    }
}

/// Whether a Job of this status creates no more pods.
pub fn has_ended(status: &JobStatus) -> bool {
    let mut conditions = status.conditions.iter().flatten();
    conditions.any(|condition| condition.status == "True" && ENDS.contains(&&*condition.type_))
}

/// As many as may run `at_once`, and no more than are left to succeed.
fn wanted(spec: &JobSpec, status: Option<&JobStatus>, at_once: u32) -> u32 {
    let elsewhere = spec.managed_by.as_deref().is_some_and(|controller| controller != CONTROLLER);
    if status.is_some_and(has_ended) || elsewhere || spec.suspend == Some(true) {
        return 0;
    }
    let succeeded = count(status.and_then(|status| status.succeeded).unwrap_or_default());
    match spec.completions {
        // A work queue: once a pod finds it empty, those that run may finish and no others are started.
        None if succeeded > 0 => 0,
        None => at_once,
        Some(completions) => {
            let failed = status.and_then(|status| status.failed_indexes.as_deref());
            let given_up = failed.map(indexes).unwrap_or_default();
            at_once.min(count(completions).saturating_sub(succeeded).saturating_sub(given_up))
        }
    }
}

/// How many indexes a list such as `1,3-5,7` has; what cannot be read counts as none.
fn indexes(text: &str) -> u32 {
    let lengths = text.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        last.checked_sub(first)?.checked_add(1)
    });
    lengths.fold(0, u32::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_indexes_are_counted() {
        let counted = ["", "0", "1,3-5,7", "0-4294967295,1", "5-3", "x,2", "-1", "1-2-3"].map(indexes);
        assert_eq!(counted, [0, 1, 5, 1, 0, 1, 0, 0]);
    }
}
