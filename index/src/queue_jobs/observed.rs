//! What the API server said of one QueueJob and its Jobs.

use std::sync::Arc;

use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt as _;
use quotient_crds::names::TEMPLATE_ANNOTATION;
use quotient_crds::{QueueJobCondition, QueueJobSpec, QueueJobStatus, Task};
use quotient_snapshot::names::QueueJobUid;
use quotient_snapshot::stable_hash;
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{Ended, QueueJob};

use crate::interned::Interned;
use crate::meta::{Age, ResourceVersion, timestamp};
use crate::owner_references::controlling_queue_job;
use crate::pod_requests::Defaultable;
use crate::priority_classes::AskedPriority;
use crate::reading::count;

/// A QueueJob as it was seen last: what the operator needs to keep its Jobs and to write its status only when that changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedQueueJob {
    /// Its id.
    pub uid: QueueJobUid,
    /// Its version.
    pub resource_version: Option<ResourceVersion>,
    /// The generation of its spec, to be reported as observed.
    pub generation: Option<i64>,
    /// Whether its deletion was requested.
    pub deleting: bool,
    /// How long it is kept once it has come to an end.
    pub ttl_seconds_after_finished: Option<i32>,
    /// Its status as it stands, none if it never had one or cannot be decoded.
    pub status: Option<StoredStatus>,
    /// Since when its status says that it has ended.
    pub ended: Option<Timestamp>,
    /// Its tasks, in the order of its spec.
    pub tasks: Vec<ObservedTask>,
}

/// The status of a QueueJob as JSON. Equal ones are kept once: those of a crowd that waits for the same room differ in little
/// more than their times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredStatus(Arc<str>);

/// One task of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedTask {
    /// Its name.
    pub name: Arc<str>,
    /// How many pods have to succeed.
    pub replicas: u32,
    /// What its Job is to be made of, as [`task_hash`](super::task_hash) tells.
    pub template: Arc<str>,
    /// Its Job, if there is one.
    pub job: Option<ObservedTaskJob>,
}

/// The Job of a task as it was seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedTaskJob {
    /// Its id.
    pub uid: Arc<str>,
    /// How many of its pods may run at once.
    pub parallelism: u32,
    /// How many have to succeed.
    pub completions: u32,
    /// Whether it is suspended.
    pub suspended: bool,
    /// What it was made of.
    pub template: Arc<str>,
    /// Whether its deletion was requested.
    pub deleting: bool,
    /// How it ended, if it has.
    pub end: Option<JobEnd>,
}

/// How a Job ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum JobEnd {
    /// All its pods have succeeded.
    Complete,
    /// It has failed: the reason and the message of its condition.
    Failed(Arc<str>, Arc<str>),
}

impl StoredStatus {
    fn of(status: &QueueJobStatus, texts: &mut Interned<str>) -> Option<Self> {
        serde_json::to_string(status).ok().map(|text| Self(texts.get(text)))
    }

    /// What it says.
    pub fn read(&self) -> QueueJobStatus {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// How and when the QueueJob ended, if its status says so. What has ended stays so, whatever becomes of its Jobs.
pub(crate) fn end(status: &QueueJobStatus) -> Option<(Ended, Timestamp)> {
    let holds = |condition, end| {
        let found = status.condition(condition).filter(|found| found.status == "True")?;
        Some((end, timestamp(&found.last_transition_time)))
    };
    holds(QueueJobCondition::Failed, Ended::Failed)
        .or_else(|| holds(QueueJobCondition::Complete, Ended::Complete))
}

impl ObservedQueueJob {
    /// Keeps `status`, as text among the `texts`.
    pub(crate) fn keep_status(&mut self, status: &QueueJobStatus, texts: &mut Interned<str>) {
        self.ended = end(status).map(|(_, since)| since);
        self.status = StoredStatus::of(status, texts);
    }
}

/// What is kept of a QueueJob.
#[derive(Debug, Default)]
pub(crate) struct QueueJobEntry {
    /// What its spec and its status say; what its Jobs say is left open.
    pub(crate) job: QueueJob,
    /// How its pods ask for a priority.
    pub(crate) asked: Option<AskedPriority>,
    /// What pods of some of its tasks request by the defaults of the namespace.
    pub(crate) defaultable: Vec<(usize, Box<Defaultable>)>,
    /// What the operator needs to know of it; its tasks' Jobs are left open.
    pub(crate) observed: ObservedQueueJob,
}

/// A Job that belongs to a QueueJob.
#[derive(Clone, Debug)]
pub(crate) struct TaskJob {
    pub(crate) age: Age,
    /// The uid of the QueueJob.
    pub(crate) controller: Arc<str>,
    pub(crate) succeeded: u32,
    pub(crate) failed: u32,
    /// What `manualSelector` in its spec says.
    pub(crate) manual_selector: Option<bool>,
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
    let controller = controlling_queue_job(&job.metadata)?;
    let spec = job.spec.as_ref()?;
    let status = job.status.as_ref();
    let number = |number: Option<i32>| count(number.unwrap_or_default());
    Some(TaskJob {
        age: Age::of(&job.metadata),
        controller: controller.into(),
        succeeded: number(status.and_then(|status| status.succeeded)),
        failed: number(status.and_then(|status| status.failed)),
        manual_selector: spec.manual_selector,
        seen: ObservedTaskJob {
            uid: job.metadata.uid.as_deref().unwrap_or_default().into(),
            parallelism: number(spec.parallelism.or(Some(1))),
            completions: number(spec.completions),
            suspended: spec.suspend == Some(true),
            template: job.annotations().get(TEMPLATE_ANNOTATION).map_or("", String::as_str).into(),
            deleting: job.metadata.deletion_timestamp.is_some(),
            end: end_of_job(job),
        },
    })
}

fn end_of_job(job: &Job) -> Option<JobEnd> {
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
