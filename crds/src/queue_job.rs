//! The QueueJob: an elastic gang inside a queue.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::queue_job_rules::{queue_job_rule, queue_job_spec_rules, task_rules};
use crate::{PodTemplate, QueueJobStatus};

/// The most tasks that one QueueJob has.
pub const MAX_TASKS: u32 = 16;

/// The most replicas that one task has, and all tasks of a QueueJob have together.
pub const MAX_REPLICAS: i32 = 5000;

/// The longest name of a QueueJob. With its task's name and the number of a pod it has to be a host's name.
pub const MAX_QUEUE_JOB_NAME_LENGTH: u32 = 40;

/// The longest name of a task.
pub const MAX_TASK_NAME_LENGTH: u32 = 16;

/// How long a gang has to come to run, unless its spec says otherwise, in seconds.
pub const DEFAULT_START_TIMEOUT_SECONDS: i32 = 300;

/// The longest time that a QueueJob's spec may name, in seconds: a year.
pub const MAX_SECONDS: i32 = 31_536_000;

/// The most failures that a QueueJob's spec may allow.
pub const MAX_BACKOFF_LIMIT: i32 = 1_000_000;

/// A gang of pods that run together or not at all, and share what is left of their queue with others of its kind.
///
/// The QueueJobs of a namespace divide its Queue's share. First each of them gets what it needs to run at all,
/// minAvailable: wholly or not at all, those that run before those that wait, then by priority and age. What is left goes
/// one pod at a time to the QueueJob with the lowest dominant share. Nothing is taken from a QueueJob below minAvailable
/// for the balance's sake, and one that waits holds nothing.
#[derive(CustomResource, JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "quotient.dev",
    version = "v1alpha1",
    kind = "QueueJob",
    namespaced,
    status = "QueueJobStatus",
    derive = "PartialEq",
    shortname = "qtj",
    category = "quotient",
    doc = "A QueueJob is an elastic gang in the namespace of a Queue: pods that run together or not at all, at least \
           minAvailable and at most all replicas of them. Quotient keeps one batch/v1 Job for each of its tasks, \
           suspended until the gang fits, and moves the Jobs' parallelism as room comes and goes.",
    validation = queue_job_rule(),
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".status.state",
        description = "Waiting, Starting, Running, Suspended, Complete or Failed"
    ),
    printcolumn(
        name = "Min",
        type_ = "integer",
        json_path = ".status.minAvailable",
        description = "How many pods have to run or to have succeeded for the gang to run"
    ),
    printcolumn(
        name = "Slots",
        type_ = "integer",
        json_path = ".status.slots",
        description = "How many pods it may run now"
    ),
    printcolumn(
        name = "Running",
        type_ = "integer",
        json_path = ".status.running",
        description = "How many of its pods run"
    ),
    printcolumn(
        name = "Succeeded",
        type_ = "integer",
        json_path = ".status.succeeded",
        description = "How many of its pods have succeeded"
    ),
    printcolumn(
        name = "Reason",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Admitted")].reason"#,
        description = "Why it has its slots, or has none"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp",
        description = "Time since the QueueJob was created"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = queue_job_spec_rules()))]
pub struct QueueJobSpec {
    /// How many pods of all tasks together have to run for any of them to be of use: at least 1. The gang gets room for
    /// that many at once or waits. Pods that have succeeded count, pods that were evicted do not. It must not be above
    /// the replicas of all tasks together, nor below the minAvailable of all tasks together. Default: all replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_REPLICAS))]
    pub min_available: Option<i32>,

    /// The PriorityClass of the pods whose template names none. Among the gangs that wait, those of higher priority are
    /// let in first. Default: that of the template, or the cluster's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 253))]
    pub priority_class_name: Option<String>,

    /// The tasks, each with pods of one kind: 1 to 16. Example: a launcher with one replica and workers with many.
    #[schemars(length(min = 1, max = MAX_TASKS), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tasks: Vec<Task>,

    /// How long, in seconds, the gang may take to run once it has its slots: 1 to 31536000. A gang that does not run by
    /// then gives its slots back, so that others can use them, and tries again later: after a minute, then after two, and
    /// so on up to an hour. Default: 300.
    #[serde(default = "default_start_timeout")]
    #[schemars(range(min = 1, max = MAX_SECONDS))]
    pub start_timeout_seconds: i32,

    /// How long, in seconds, the QueueJob is kept once it is complete or has failed; then it is deleted together with its
    /// Jobs and pods. 0 deletes it at once. Default: it is kept until a user deletes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_SECONDS))]
    pub ttl_seconds_after_finished: Option<i32>,

    /// How long, in seconds, each task may be active before it is stopped and has failed. A task is active from when the
    /// gang gets its slots; if it loses all of them, the time begins anew with the next. Default: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_SECONDS))]
    pub active_deadline_seconds: Option<i32>,

    /// How many pods of a task may fail before the task, and with it the QueueJob, has failed: 0 to 1000000. Pods that
    /// were evicted or preempted have not failed. Default: 6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_BACKOFF_LIMIT))]
    pub backoff_limit: Option<i32>,

    /// Whether the QueueJob gives up its slots, which ends its pods, and asks for none. What has succeeded stays so.
    /// Default: false.
    #[serde(default)]
    pub suspend: bool,
}

/// Pods of one kind: what a Job of the same name runs.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = task_rules()))]
pub struct Task {
    /// The task's name, unique within the QueueJob: at most 16 characters of a to z, 0 to 9 and -. Its Job is called
    /// QUEUEJOB-TASK, and its pods can be told by their completion index.
    #[schemars(length(min = 1, max = MAX_TASK_NAME_LENGTH), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,

    /// How many pods have to succeed, one for each index from 0; as many as there is room for run at once. 1 to 5000, and
    /// no more than 5000 in all tasks together. It may be changed while the task runs. Default: 1.
    //
    // No default in the schema: one that is filled into an item of a list makes kubectl and deployment tools see a
    // difference for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_REPLICAS))]
    pub replicas: Option<i32>,

    /// How many pods of this task are among those without which the gang is of no use. Example: 1 for a launcher.
    /// Default: 0, which leaves it to the QueueJob's minAvailable, filled up in the order of the tasks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_REPLICAS))]
    pub min_available: Option<i32>,

    /// What its pods look like: a pod template as in every Job. It must not name a node, use hostPath volumes or a
    /// service account of elsewhere; its restartPolicy is Never, which may be left out. Another template ends the task's
    /// pods and runs the task anew.
    #[schemars(schema_with = "PodTemplate::spec_schema")]
    pub template: PodTemplate,
}

impl QueueJobSpec {
    /// How many pods all tasks have together.
    pub fn replicas(&self) -> i32 {
        self.tasks.iter().map(Task::replicas).fold(0, i32::saturating_add)
    }

    /// How many of them have to run or to have succeeded for the gang to run: all, unless the spec says otherwise.
    pub fn floor(&self) -> i32 {
        self.min_available.unwrap_or_else(|| self.replicas())
    }
}

impl Task {
    /// How many pods have to succeed.
    pub fn replicas(&self) -> i32 {
        self.replicas.unwrap_or(1)
    }

    /// How many of them the gang cannot do without.
    pub fn min_available(&self) -> i32 {
        self.min_available.unwrap_or_default()
    }
}

fn default_start_timeout() -> i32 {
    DEFAULT_START_TIMEOUT_SECONDS
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_left_out_is_the_default() {
        let spec: QueueJobSpec = serde_json::from_value(json!({
            "tasks": [{"name": "worker", "template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}}],
        }))
        .unwrap();
        assert_eq!((spec.replicas(), spec.floor(), spec.start_timeout_seconds), (1, 1, 300));
        assert!(!spec.suspend && spec.backoff_limit.is_none());
    }

    #[test]
    fn a_spec_is_read_and_written() {
        let text = json!({
            "minAvailable": 3, "priorityClassName": "high", "startTimeoutSeconds": 60, "suspend": true,
            "ttlSecondsAfterFinished": 0, "activeDeadlineSeconds": 3600, "backoffLimit": 0,
            "tasks": [
                {"name": "launcher", "replicas": 1, "minAvailable": 1, "template": {"spec": {"containers": []}}},
                {"name": "worker", "replicas": 4, "minAvailable": 0,
                    "template": {"spec": {"containers": [], "aFieldOfTomorrow": {"kept": true}}}},
            ],
        });
        let spec: QueueJobSpec = serde_json::from_value(text.clone()).unwrap();
        assert_eq!((spec.replicas(), spec.floor()), (5, 3));
        assert_eq!(serde_json::to_value(&spec).unwrap(), text);
    }
}
