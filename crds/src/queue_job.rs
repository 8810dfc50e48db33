//! The QueueJob: an elastic gang inside a queue.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

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
/// one pod at a time to the QueueJob with the lowest dominant share. No QueueJob falls below minAvailable to balance
/// others, and a waiting one holds nothing.
#[skip_serializing_none]
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
    validation = queue_job_rule()
)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = queue_job_spec_rules()))]
pub struct QueueJobSpec {
    /// How many pods of all tasks together have to run for the gang to be useful. The gang gets room for that many at
    /// once, or waits. Succeeded pods count, evicted pods do not. Unit: a whole number, at least 1. Default: all
    /// replicas. Example: 3. It must not be above the replicas of all tasks together, nor below the minAvailable of all
    /// tasks together.
    #[schemars(range(min = 1, max = MAX_REPLICAS))]
    pub min_available: Option<i32>,

    /// The PriorityClass of the pods whose template names none. Of the gangs that wait, those of a higher priority get
    /// room first. Default: the class of the template, or the default of the cluster. Example: batch-high.
    #[schemars(length(max = 253))]
    pub priority_class_name: Option<String>,

    /// The tasks, each with pods of one template. At least 1 and at most 16. Example: a launcher with one replica and
    /// workers with many.
    #[schemars(length(min = 1, max = MAX_TASKS), extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
    pub tasks: Vec<Task>,

    /// How long the gang may take to run once it has its slots. A gang that does not run by then gives its slots back
    /// and asks again after one minute, then after two, doubling up to an hour. Unit: seconds, 1 to 31536000 (a year).
    /// Default: 300. Example: 900, for large images.
    #[serde(default = "default_start_timeout")]
    #[schemars(range(min = 1, max = MAX_SECONDS))]
    pub start_timeout_seconds: i32,

    /// How long a complete or failed QueueJob is kept. Then it is deleted with its Jobs and pods. Unit: seconds, 0 to
    /// 31536000 (a year); 0 deletes it at once. Default: it stays until you delete it. Example: 86400.
    #[schemars(range(min = 0, max = MAX_SECONDS))]
    pub ttl_seconds_after_finished: Option<i32>,

    /// How long each task may be active before it is stopped and has failed. A task is active from the moment when the
    /// gang gets its slots. If the gang loses all of them, the time starts again with the next ones. Unit: seconds, 1
    /// to 31536000 (a year). Default: no bound. Example: 3600.
    #[schemars(range(min = 1, max = MAX_SECONDS))]
    pub active_deadline_seconds: Option<i32>,

    /// How many pods of a task may fail. After one more, the task and the QueueJob have failed. Evicted and preempted
    /// pods are not failures. Unit: a whole number, 0 to 1000000. Default: 6. Example: 0.
    #[schemars(range(min = 0, max = MAX_BACKOFF_LIMIT))]
    pub backoff_limit: Option<i32>,

    /// Whether the QueueJob gives up its slots, which ends its pods, and asks for none. Succeeded pods stay counted.
    /// Default: false.
    #[serde(default)]
    pub suspend: bool,
}

/// Pods of one kind: what a Job of the same name runs.
#[skip_serializing_none]
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-validations" = task_rules()))]
pub struct Task {
    /// The name of the task, unique within the QueueJob. At most 16 characters of a to z, 0 to 9 and -. Its Job is
    /// named QUEUEJOB-TASK, and a completion index numbers its pods. Example: worker.
    #[schemars(length(min = 1, max = MAX_TASK_NAME_LENGTH), regex(pattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"))]
    pub name: String,

    /// How many pods have to succeed, one for each index from 0. As many run at once as there is room for. Unit: a whole
    /// number, 1 to 5000, and at most 5000 in all tasks together. Default: 1. Example: 8. You may change it while the task
    /// runs.
    //
    // No default in the schema: one that is filled into an item of a list makes kubectl and deployment tools see a
    // difference for ever.
    #[schemars(range(min = 1, max = MAX_REPLICAS))]
    pub replicas: Option<i32>,

    /// How many pods of this task belong to the minimum of the gang. Unit: a whole number, at most the replicas of the task.
    /// Default: 0; minAvailable of the QueueJob is then filled up in the order of the tasks. Example: 1, for a launcher.
    #[schemars(range(min = 0, max = MAX_REPLICAS))]
    pub min_available: Option<i32>,

    /// The pod template of the task, as in a Job. It must not set nodeName, and no volume may be a hostPath. Its
    /// restartPolicy is Never and may be left out. If you change the template, the pods of the task end and the task starts
    /// again.
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
