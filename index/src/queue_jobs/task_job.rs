//! The Job of a task of a QueueJob.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use quotient_crds::names::{GROUP, TEMPLATE_ANNOTATION};
use quotient_crds::{QueueJobSpec, Task};
use quotient_engine::stable_hash;

use super::observed::{JobEnd, ObservedTaskJob};
use crate::manual_selector::ManualSelector;
use crate::meta::Age;

/// A Job that belongs to a QueueJob.
#[derive(Clone, Debug)]
pub(crate) struct TaskJob {
    pub(crate) age: Age,
    /// The uid of the QueueJob.
    pub(crate) controller: Arc<str>,
    pub(crate) succeeded: u32,
    pub(crate) failed: u32,
    /// What `manualSelector` in its spec says.
    pub(crate) manual_selector: ManualSelector,
    pub(crate) seen: ObservedTaskJob,
}

/// What the Job of the task `task` of the QueueJob `queue_job` is called.
pub fn job_name(queue_job: &str, task: &str) -> String {
    format!("{queue_job}-{task}")
}

/// What the Job of `task` is made of that cannot be changed once it is there, in sixteen digits: the template and the class
/// that its pods get where it names none, and how often and how long it may be tried.
pub fn task_hash(spec: &QueueJobSpec, task: &Task) -> Arc<str> {
    let number = |number: Option<i32>| number.map(|number| number.to_string());
    let (backoff, deadline) = (number(spec.backoff_limit), number(spec.active_deadline_seconds));
    let others = [spec.priority_class_name.as_deref(), backoff.as_deref(), deadline.as_deref()];
    // A tenant gains nothing by a collision outside of its own namespace.
    let text = serde_json::json!([task.template.0, others]).to_string();
    let hash = stable_hash(text.bytes());
    format!("{hash:016x}").into()
}

/// What is kept of `job` if a QueueJob controls it.
pub(crate) fn task_job(job: &Job) -> Option<TaskJob> {
    let mut owners = job.metadata.owner_references.iter().flatten();
    let controller = owners.find(|owner| owner.controller == Some(true))?;
    let group = controller.api_version.split_once('/').map_or("", |(group, _)| group);
    (controller.kind == "QueueJob" && group == GROUP).then_some(())?;
    let spec = job.spec.as_ref()?;
    let status = job.status.as_ref();
    let count = |number: Option<i32>| u32::try_from(number.unwrap_or_default()).unwrap_or_default();
    let annotations = job.metadata.annotations.as_ref();
    Some(TaskJob {
        age: Age::of(&job.metadata),
        controller: controller.uid.as_str().into(),
        succeeded: count(status.and_then(|status| status.succeeded)),
        failed: count(status.and_then(|status| status.failed)),
        manual_selector: spec.manual_selector.into(),
        seen: ObservedTaskJob {
            uid: job.metadata.uid.as_deref().unwrap_or_default().into(),
            parallelism: count(spec.parallelism.or(Some(1))),
            completions: count(spec.completions),
            suspended: spec.suspend == Some(true),
            template: annotations
                .and_then(|all| all.get(TEMPLATE_ANNOTATION))
                .map(String::as_str)
                .unwrap_or_default()
                .into(),
            deleting: job.metadata.deletion_timestamp.is_some(),
            end: end(job),
        },
    })
}

fn end(job: &Job) -> Option<JobEnd> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let holds = |name: &str| {
        conditions.iter().find(|condition| condition.type_ == name && condition.status == "True")
    };
    if let Some(failed) = holds("Failed").or_else(|| holds("FailureTarget")) {
        let text = |text: &Option<String>| text.as_deref().unwrap_or_default().into();
        return Some(JobEnd::Failed(text(&failed.reason), text(&failed.message)));
    }
    holds("Complete").or_else(|| holds("SuccessCriteriaMet")).map(|_| JobEnd::Complete)
}
