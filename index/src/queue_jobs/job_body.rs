//! The Job of a task, as it is sent.

use quotient_crds::names::{
    API_VERSION, GANG_ANNOTATION, GANG_MIN_AVAILABLE_ANNOTATION, MANAGED_BY_LABEL, MANAGED_BY_QUOTIENT,
    QUEUE_JOB_LABEL, TASK_LABEL, TEMPLATE_ANNOTATION,
};
use quotient_crds::{QueueJob, Task};
use quotient_snapshot::QueueJob as Gang;
use serde_json::{Value, json};

use super::observed::{job_name, task_hash};

/// How many pods of a task may fail, unless the QueueJob says otherwise: as a Job does it.
const DEFAULT_BACKOFF_LIMIT: i32 = 6;

/// The Job of `task`, suspended unless it is told how many pods may run.
pub fn job_body(owner: &QueueJob, task: &Task, parallelism: Option<u32>) -> Value {
    let name = owner.metadata.name.as_deref().unwrap_or_default();
    let labels = json!({
        MANAGED_BY_LABEL: MANAGED_BY_QUOTIENT,
        QUEUE_JOB_LABEL: name,
        TASK_LABEL: task.name,
    });
    let mut spec = json!({
        "completionMode": "Indexed",
        "completions": task.replicas(),
        "parallelism": parallelism.unwrap_or_default(),
        "suspend": parallelism.is_none(),
        "backoffLimit": owner.spec.backoff_limit.unwrap_or(DEFAULT_BACKOFF_LIMIT),
        // A pod that was evicted or preempted has not failed.
        "podFailurePolicy": {"rules": [
            {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        ]},
        "template": pod_template(owner, task),
    });
    if let Some(deadline) = owner.spec.active_deadline_seconds {
        overlay(&mut spec, json!({"activeDeadlineSeconds": deadline}));
    }
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": job_name(name, &task.name),
            "namespace": owner.metadata.namespace,
            "labels": labels,
            "annotations": {TEMPLATE_ANNOTATION: *task_hash(&owner.spec, task)},
            "ownerReferences": [{
                "apiVersion": API_VERSION,
                "kind": "QueueJob",
                "name": name,
                "uid": owner.metadata.uid,
                "controller": true,
            }],
        },
        "spec": spec,
    })
}

/// The user's template, with what makes its pods members of their gang.
fn pod_template(owner: &QueueJob, task: &Task) -> Value {
    let name = owner.metadata.name.as_deref().unwrap_or_default();
    let mut template = task.template.0.clone();
    let of_template = template.pointer("/spec/priorityClassName").and_then(Value::as_str);
    let class = owner.spec.priority_class_name.as_deref().filter(|class| !class.is_empty());
    if let Some(class) = class.filter(|_| of_template.unwrap_or_default().is_empty()) {
        overlay(&mut template, json!({"spec": {"priorityClassName": class}}));
    }
    let of_gang = json!({
        "metadata": {
            "labels": {QUEUE_JOB_LABEL: name, TASK_LABEL: task.name},
            "annotations": {
                GANG_ANNOTATION: Gang::gang_name(name).as_str(),
                GANG_MIN_AVAILABLE_ANNOTATION: owner.spec.floor().to_string(),
            },
        },
        "spec": {"restartPolicy": "Never"},
    });
    overlay(&mut template, of_gang);
    template
}

/// Sets the fields of `value` that `over` has, and leaves all others.
fn overlay(value: &mut Value, over: Value) {
    match (value, over) {
        (Value::Object(fields), Value::Object(over)) => {
            for (key, over) in over {
                overlay(fields.entry(key).or_insert(Value::Null), over);
            }
        }
        (value, over) => *value = over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_job_carries_the_users_template_and_its_gang() {
        let owner: QueueJob = serde_json::from_value(json!({
            "apiVersion": API_VERSION, "kind": "QueueJob",
            "metadata": {"name": "train", "namespace": "a", "uid": "q-1"},
            "spec": {"minAvailable": 2, "priorityClassName": "high", "backoffLimit": 0, "activeDeadlineSeconds": 60,
                "tasks": [{"name": "w", "replicas": 4, "template": {
                    "metadata": {"labels": {"app": "x"}},
                    "spec": {"containers": [{"name": "c"}], "fieldOfTomorrow": 1},
                }}]},
        }))
        .unwrap();
        let body = job_body(&owner, &owner.spec.tasks[0], Some(3));
        expect![[r#"
            {
              "apiVersion": "batch/v1",
              "kind": "Job",
              "metadata": {
                "annotations": {
                  "quotient.dev/template": "f81dd9ee4c7228d2"
                },
                "labels": {
                  "app.kubernetes.io/managed-by": "quotient",
                  "quotient.dev/queue-job": "train",
                  "quotient.dev/task": "w"
                },
                "name": "train-w",
                "namespace": "a",
                "ownerReferences": [
                  {
                    "apiVersion": "quotient.dev/v1alpha1",
                    "controller": true,
                    "kind": "QueueJob",
                    "name": "train",
                    "uid": "q-1"
                  }
                ]
              },
              "spec": {
                "activeDeadlineSeconds": 60,
                "backoffLimit": 0,
                "completionMode": "Indexed",
                "completions": 4,
                "parallelism": 3,
                "podFailurePolicy": {
                  "rules": [
                    {
                      "action": "Ignore",
                      "onPodConditions": [
                        {
                          "status": "True",
                          "type": "DisruptionTarget"
                        }
                      ]
                    }
                  ]
                },
                "suspend": false,
                "template": {
                  "metadata": {
                    "annotations": {
                      "quotient.dev/gang": "queuejob/train",
                      "quotient.dev/gang-min-available": "2"
                    },
                    "labels": {
                      "app": "x",
                      "quotient.dev/queue-job": "train",
                      "quotient.dev/task": "w"
                    }
                  },
                  "spec": {
                    "containers": [
                      {
                        "name": "c"
                      }
                    ],
                    "fieldOfTomorrow": 1,
                    "priorityClassName": "high",
                    "restartPolicy": "Never"
                  }
                }
              }
            }
        "#]]
        .assert_eq(&format!("{body:#}\n"));
        let waiting = job_body(&owner, &owner.spec.tasks[0], None);
        assert_eq!((&waiting["spec"]["suspend"], &waiting["spec"]["parallelism"]), (&json!(true), &json!(0)));
    }
}
