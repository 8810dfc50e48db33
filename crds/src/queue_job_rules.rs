//! The rules that the API server checks on a QueueJob besides its schema: CEL, as `x-kubernetes-validations`.
//!
//! Rules that compute with a number stand above the schema's bounds on it, so each of them holds for numbers that the
//! schema refuses, too: what is refused twice should not be refused with two contradicting messages.

use kube::core::Rule;
use serde_json::{Value, json};

use crate::queue_job::{MAX_QUEUE_JOB_NAME_LENGTH, MAX_REPLICAS};

/// The rules for a QueueJob as a whole; `self` is the object.
pub(crate) fn queue_job_rule() -> Rule {
    Rule::new(format!(
        "size(self.metadata.name) <= {MAX_QUEUE_JOB_NAME_LENGTH} \
         && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')"
    ))
    .message(
        "the names of pods are made of the QueueJob's name: write at most 40 characters of a to z, 0 to 9 and -",
    )
}

/// The rules for its spec; `self` is the spec.
pub(crate) fn queue_job_spec_rules() -> Value {
    let replicas = "self.tasks.map(task, has(task.replicas) ? task.replicas : 1).sum()";
    let needed = "self.tasks.map(task, has(task.minAvailable) ? task.minAvailable : 0).sum()";
    json!([
        {
            "rule": format!("!has(self.minAvailable) || self.minAvailable <= {replicas}"),
            "message": "minAvailable must not be above the replicas of all tasks together: \
                        lower it, or write more replicas",
            "fieldPath": ".minAvailable",
        },
        {
            "rule": format!("!has(self.minAvailable) || self.minAvailable >= {needed}"),
            "message": "minAvailable must not be below the minAvailable of all tasks together: \
                        write at least their sum, or lower theirs",
            "fieldPath": ".minAvailable",
        },
        {
            "rule": format!("{replicas} <= {MAX_REPLICAS}"),
            "message": format!("all tasks together have at most {MAX_REPLICAS} replicas: lower some"),
            "fieldPath": ".tasks",
        },
    ])
}

/// The rules for one task; `self` is the task.
pub(crate) fn task_rules() -> Value {
    json!([{
        "rule": "!has(self.minAvailable) || self.minAvailable <= (has(self.replicas) ? self.replicas : 1)",
        "message": "minAvailable must not be above replicas: lower it, or write more replicas",
        "fieldPath": ".minAvailable",
    }])
}

/// The rules for the pod spec of a template; `self` is the pod spec.
pub(crate) fn pod_spec_rules() -> Value {
    json!([
        {
            "rule": "!has(self.nodeName) || self.nodeName == ''",
            "message": "the scheduler chooses the node: leave nodeName out; \
                        to choose among nodes, write a nodeSelector or an affinity",
            "fieldPath": ".nodeName",
        },
        {
            "rule": "!has(self.serviceAccountName) || self.serviceAccountName == '' \
                     || self.serviceAccountName.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
            "message": "pods run under a service account of their own namespace: write its plain name, \
                        without a namespace",
            "fieldPath": ".serviceAccountName",
        },
        {
            "rule": "!has(self.restartPolicy) || self.restartPolicy in ['', 'Never']",
            "message": "restartPolicy must be Never: leave it out",
            "fieldPath": ".restartPolicy",
        },
    ])
}

/// The rules for one volume; `self` is the volume.
pub(crate) fn volume_rules() -> Value {
    json!([{
        "rule": "!has(self.hostPath)",
        "message": "the pods of a QueueJob do not see the node's files: leave hostPath out; \
                    write an emptyDir or a persistentVolumeClaim",
        "fieldPath": ".hostPath",
    }])
}
