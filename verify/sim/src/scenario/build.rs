//! Objects as people write them, and what people do to objects.

use std::time::Duration;

use quotient_crds::{Queue, ResourceMap};
use serde_json::{Value, json};

use crate::faults::Act;
use crate::objects::{Key, Kind};
use crate::server::Call;

/// So many seconds.
pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A person creates something.
pub fn created(kind: Kind, object: Value) -> Act {
    Act::Human(Call::create(kind, object))
}

/// A person changes something.
pub fn merged(kind: Kind, namespace: &str, name: &str, patch: Value) -> Act {
    Act::Human(Call::merge(Key::new(kind, namespace, name), patch))
}

/// The same in the status.
pub fn status_merged(kind: Kind, namespace: &str, name: &str, patch: Value) -> Act {
    Act::Human(Call::merge(Key::new(kind, namespace, name), patch).on("status"))
}

/// A person deletes something.
pub fn deleted(kind: Kind, namespace: &str, name: &str) -> Act {
    Act::Human(Call::delete(Key::new(kind, namespace, name), json!({})))
}

/// A person gives a team so many pods of one cpu to run, for ever: its Job `train`.
pub fn train(team: &str, pods: u32) -> Act {
    created(Kind::Job, job(team, "train", pods, &work("1", "1Gi")))
}

/// A person creates the Queue of a team: see [`team`].
pub fn joins(name: &str, weight: i32) -> Act {
    created(Kind::Queue, team(name, weight))
}

/// Namespaces `team-1` to `team-N`.
pub fn teams(count: usize) -> impl Iterator<Item = (Kind, Value)> {
    (1..=count).map(|number| (Kind::Namespace, namespace(&format!("team-{number}"))))
}

/// One node that offers so much, and the namespaces of so many teams.
pub fn node_and_teams(cpu: &str, memory: &str, count: usize) -> Vec<(Kind, Value)> {
    [(Kind::Node, node("node-1", cpu, memory))].into_iter().chain(teams(count)).collect()
}

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

/// A Queue of this name, with a spec as people write it.
pub fn queue_of(namespace: &str, name: &str, spec: Value) -> (Kind, Value) {
    let spec = serde_json::from_value(spec).unwrap_or_else(|error| panic!("{namespace}/{name}: {error}"));
    let mut queue = Queue::new(name, spec);
    queue.metadata.namespace = Some(namespace.to_owned());
    (Kind::Queue, serde_json::to_value(queue).expect("a Queue is JSON"))
}

/// The Queue of a team: in its namespace, under its name, with this weight and a claim to everything.
pub fn team(name: &str, weight: i32) -> Value {
    queue_of(name, name, json!({"weight": weight, "request": everything()})).1
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

/// A pod without a controller.
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

/// A Deployment.
pub fn deployment(namespace: &str, name: &str, replicas: u32, spec: &Value) -> Value {
    replica_set(namespace, name, replicas, spec)
}

/// An autoscaler of the Deployment of its name, which asks for as many pods as its metrics say.
pub fn autoscaler(namespace: &str, name: &str, most: u32) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "spec": {
            "minReplicas": 1, "maxReplicas": most,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        },
    })
}

/// A DaemonSet.
pub fn daemon_set(namespace: &str, name: &str, spec: &Value) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template(name, spec)},
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

/// A foreign quota.
pub fn quota(namespace: &str, name: &str, hard: &Value) -> Value {
    json!({"metadata": {"namespace": namespace, "name": name}, "spec": {"hard": hard}})
}
