//! Objects as people write them.

use quotient_crds::{Queue, QueueSpec, ResourceMap};
use serde_json::{Value, json};

/// A namespace.
pub fn namespace(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

/// A node that is ready and offers so much.
pub fn node(name: &str, cpu: &str, memory: &str) -> Value {
    let amounts = json!({"cpu": cpu, "memory": memory, "pods": "110"});
    json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "capacity": amounts, "allocatable": amounts,
            "conditions": [
                {"type": "Ready", "status": "True", "reason": "KubeletReady",
                 "lastTransitionTime": "2029-12-31T00:00:00Z"},
            ],
        },
    })
}

/// A Queue of this name.
pub fn queue(namespace: &str, name: &str, spec: QueueSpec) -> Value {
    let mut queue = Queue::new(name, spec);
    queue.metadata.namespace = Some(namespace.to_owned());
    serde_json::to_value(queue).expect("a Queue is JSON")
}

/// The Queue of a team: in its namespace, under its name, with this weight and a claim to everything.
pub fn team(name: &str, weight: i32) -> Value {
    queue(name, name, QueueSpec { weight, request: Some(everything()), ..QueueSpec::default() })
}

/// More cpu and memory than a simulated cluster has.
pub fn everything() -> ResourceMap {
    [("cpu", "1k"), ("memory", "1Ti")].into()
}

/// What containers are to do: one that requests so much.
pub fn work(cpu: &str, memory: &str) -> Value {
    json!({
        "terminationGracePeriodSeconds": 30,
        "containers": [{
            "name": "work", "image": "registry.k8s.io/pause:3.10",
            "resources": {"requests": {"cpu": cpu, "memory": memory}},
        }],
    })
}

/// A pod that nobody recreates.
pub fn pod(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name, "labels": {"app": name}}, "spec": spec})
}

fn template(name: &str, spec: &Value) -> Value {
    json!({"metadata": {"labels": {"app": name}}, "spec": spec})
}

/// A Job that runs so many pods at a time, for ever.
pub fn job(namespace: &str, name: &str, parallelism: u32, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["restartPolicy"] = "Never".into();
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"parallelism": parallelism, "completions": 1_000_000, "template": template(name, &spec)},
    })
}

/// A ReplicaSet.
pub fn replica_set(namespace: &str, name: &str, replicas: u32, spec: &Value) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template(name, spec),
        },
    })
}

/// A StatefulSet.
pub fn stateful_set(namespace: &str, name: &str, replicas: u32, spec: &Value) -> Value {
    let mut set = replica_set(namespace, name, replicas, spec);
    set["spec"]["serviceName"] = name.into();
    set
}

/// A budget for the pods of `app`: at least so many, or percent, stay.
pub fn budget(namespace: &str, app: &str, min_available: impl Into<Value>) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": app},
        "spec": {"minAvailable": min_available.into(), "selector": {"matchLabels": {"app": app}}},
    })
}

/// A quota that is somebody's own.
pub fn quota(namespace: &str, name: &str, hard: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name}, "spec": {"hard": hard}})
}

/// A priority class.
pub fn priority(name: &str, value: i32) -> Value {
    json!({"metadata": {"name": name}, "value": value})
}
