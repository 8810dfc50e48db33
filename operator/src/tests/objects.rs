//! Objects as the API server shows them, for tests to change.

use serde_json::{Value, json};

/// A node that is Ready.
pub(crate) fn node(cpu: u32) -> Value {
    json!({
        "kind": "Node", "apiVersion": "v1",
        "metadata": {"name": "node", "uid": "node", "resourceVersion": "1"},
        "status": {
            "allocatable": {"cpu": cpu.to_string()},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        },
    })
}

/// A Queue that claims everything.
pub(crate) fn queue(namespace: &str) -> Value {
    json!({
        "kind": "Queue", "apiVersion": "quotient.dev/v1alpha1",
        "metadata": {
            "name": "team", "namespace": namespace, "uid": format!("queue-{namespace}"), "generation": 1,
            "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"request": {"cpu": "1k", "memory": "1Ti"}},
    })
}

/// The owner references of what is kept for the Queue with this uid.
pub(crate) fn owned_by(uid: &str) -> Value {
    json!([{
        "apiVersion": "quotient.dev/v1alpha1", "kind": "Queue", "name": "team", "uid": uid, "controller": true,
    }])
}

/// A quota that the Queue of the namespace owns if it bears a generation.
pub(crate) fn quota(
    namespace: &str,
    version: u32,
    generation: Option<u64>,
    hard: u32,
    enforced: u32,
) -> Value {
    let annotations = generation.map(|generation| json!({"quotient.dev/generation": generation.to_string()}));
    json!({
        "kind": "ResourceQuota", "apiVersion": "v1",
        "metadata": {
            "name": "quotient", "namespace": namespace, "uid": format!("quota-{namespace}"),
            "resourceVersion": version.to_string(), "annotations": annotations,
            "ownerReferences": generation.map(|_| owned_by(&format!("queue-{namespace}"))),
        },
        "spec": {"hard": {"requests.cpu": hard.to_string()}},
        "status": {"hard": {"requests.cpu": enforced.to_string()}},
    })
}

/// A pod of the ReplicaSet `web`.
pub(crate) fn pod(namespace: &str, name: &str) -> Value {
    let mut pod = pod_of("ReplicaSet", "web", name);
    pod["metadata"]["namespace"] = json!(namespace);
    pod
}

/// A pod of an [`owner`].
pub(crate) fn pod_of(kind: &str, owner: &str, name: &str) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "name": name, "namespace": "a", "uid": format!("uid-{name}"), "resourceVersion": "1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": format!("uid-{owner}"), "controller": true,
            }],
        },
        "spec": {
            "nodeName": "node",
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
        },
        "status": {"phase": "Running"},
    })
}

/// An owner in namespace a that wants so many pods of one cpu.
pub(crate) fn owner(kind: &str, name: &str, wanted: u32) -> Value {
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    let size = if kind == "Job" { "parallelism" } else { "replicas" };
    json!({
        "kind": kind, "apiVersion": version,
        "metadata": {"name": name, "namespace": "a", "uid": format!("uid-{name}"), "resourceVersion": "1"},
        "spec": {
            size: wanted,
            "selector": {"matchLabels": {"app": name}},
            "serviceName": name,
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
            },
        },
    })
}
