//! What a snapshot need not show: no decision depends on it.

use serde_json::{Map, Value};

use super::Snapshot;
use crate::objects::{Kind, VARIABLES, is_operator, text};

/// The fields of a container that decisions depend on.
pub(crate) const OF_CONTAINER: [&str; 4] = ["name", "resources", "restartPolicy", "resizePolicy"];

/// The fields of a pod's spec that may name secrets, files and addresses.
pub(crate) const OF_POD: [&str; 8] = [
    "volumes",
    "imagePullSecrets",
    "hostAliases",
    "dnsConfig",
    "serviceAccount",
    "serviceAccountName",
    "securityContext",
    "subdomain",
];

/// The lists of containers in a pod's spec.
pub(crate) const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Annotations with these beginnings are read by the operator or by Kubernetes' controllers.
const ANNOTATIONS: [&str; 5] = [
    "quotient.dev/",
    "deployment.kubernetes.io/",
    "controller.kubernetes.io/",
    "kubernetes.io/config.",
    "scheduling.",
];

/// The lists of what the kubelet reports of containers in a pod's status.
pub(crate) const CONTAINER_STATUSES: [&str; 3] =
    ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/// The fields of such a report that decisions and explanations depend on.
pub(crate) const OF_CONTAINER_STATUS: [&str; 6] =
    ["name", "resources", "allocatedResources", "ready", "state", "lastState"];

/// Those that hold a state: it is `running`, `waiting` or `terminated`.
pub(crate) const CONTAINER_STATES: [&str; 2] = ["state", "lastState"];

/// The fields of a state. Its message may hold the output of the container.
pub(crate) const OF_CONTAINER_STATE: [&str; 4] = ["reason", "exitCode", "startedAt", "finishedAt"];

/// What a kind that is not built in may say of its containers, wherever it says that.
const OF_OTHERS: [&str; 5] = ["image", "command", "args", "env", "envFrom"];

/// Maps whose keys are chosen freely.
const MAPS: [&str; 4] = ["metadata", "labels", "matchLabels", "nodeSelector"];

/// The account of a pod, by which the rights of the operator are reviewed.
const ACCOUNT: &str = "serviceAccountName";

/// Removes environments, commands, images, volumes and foreign annotations. Names and labels stay: workloads, pods and
/// selectors are matched by them. The flags and the account of the operator stay: decisions depend on them.
pub(crate) fn redact(snapshot: &mut Snapshot) {
    snapshot.is_redacted = true;
    for entry in &mut snapshot.entries {
        entry.change(|object| {
            metadata(object);
            let is_operator = is_operator(object);
            templates(object, is_operator);
            status(object);
            if matches!(Kind::find(text(object, "/apiVersion"), text(object, "/kind")), Ok(None)) {
                others(object);
            }
        });
    }
}

fn metadata(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        annotations.retain(|name, _| {
            ANNOTATIONS.iter().any(|beginning| name.starts_with(beginning)) || name.contains("pod-group")
        });
    }
}

/// Wherever a list of containers stands, there is a pod's spec around it.
fn templates(value: &mut Value, is_operator: bool) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("containers") {
                pod(fields, is_operator);
            }
            if let Some(template) = fields.get_mut("template") {
                metadata(template);
            }
            fields.values_mut().for_each(|value| templates(value, is_operator));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| templates(value, is_operator)),
        _ => {}
    }
}

fn pod(spec: &mut Map<String, Value>, is_operator: bool) {
    for field in OF_POD.iter().filter(|field| !is_operator || **field != ACCOUNT) {
        spec.remove(*field);
    }
    for list in CONTAINERS {
        let containers = spec.get_mut(list).and_then(Value::as_array_mut);
        for container in containers.into_iter().flatten() {
            if let Value::Object(fields) = container {
                fields.retain(|name, _| {
                    OF_CONTAINER.contains(&name.as_str())
                        || is_operator && matches!(name.as_str(), "args" | "env")
                });
                if let Some(Value::Array(variables)) = fields.get_mut("env") {
                    variables.retain(|variable| text(variable, "/name").starts_with(VARIABLES));
                }
            }
        }
    }
}

/// What a node and the kubelet report of images, and what containers wrote before they ended.
fn status(object: &mut Value) {
    let Some(Value::Object(fields)) = object.get_mut("status") else { return };
    fields.remove("images");
    for list in CONTAINER_STATUSES {
        let reports = fields.get_mut(list).and_then(Value::as_array_mut);
        for report in reports.into_iter().flatten().filter_map(Value::as_object_mut) {
            report.retain(|name, _| OF_CONTAINER_STATUS.contains(&name.as_str()));
            for name in CONTAINER_STATES {
                let states = report.get_mut(name).and_then(Value::as_object_mut).into_iter();
                let states = states.flat_map(Map::values_mut).filter_map(Value::as_object_mut);
                states.for_each(|state| state.retain(|name, _| OF_CONTAINER_STATE.contains(&name.as_str())));
            }
        }
    }
}

/// Containers may stand anywhere in a kind that is not built in.
fn others(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !OF_OTHERS.contains(&name.as_str()));
            let values = fields.iter_mut().filter(|(name, _)| !MAPS.contains(&name.as_str()));
            values.for_each(|(_, value)| others(value));
        }
        Value::Array(values) => values.iter_mut().for_each(others),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn what_may_be_secret_goes_and_what_is_decided_on_stays() {
        let object = |api_version: &str, kind: &str, field: &str, value: Value| json!({"apiVersion": api_version, "kind": kind, field: value});
        let job = |spec| object("batch/v1", "Job", "spec", spec);
        let annotated = |annotations| {
            object("batch/v1", "Job", "metadata", json!({"name": "a", "annotations": annotations}))
        };
        let pod = |report| object("v1", "Pod", "status", json!({"containerStatuses": [report]}));
        let node = |status| object("v1", "Node", "status", status);
        let farm = |spec| object("example.org/v1", "Farm", "spec", spec);
        let ended = json!({"exitCode": 1, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"});
        let report = json!({"name": "c", "ready": true, "lastState": {"terminated": ended}});
        let mut whole = report.clone();
        (whole["image"], whole["lastState"]["terminated"]["message"]) = ("i".into(), "password=x".into());
        let pairs = [
            (
                annotated(json!({"note": "x", "quotient.dev/preemptible": "last"})),
                annotated(json!({"quotient.dev/preemptible": "last"})),
            ),
            (
                job(json!({"template": {
                    "metadata": {"annotations": {"vault": "y"}, "labels": {"app": "a"}},
                    "spec": {"volumes": [{"name": "v"}], "containers": [
                        {"name": "c", "env": [{"name": "PASSWORD"}], "image": "i", "resources": {"requests": {"cpu": 1}}},
                    ]},
                }})),
                job(json!({"template": {
                    "metadata": {"annotations": {}, "labels": {"app": "a"}},
                    "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]},
                }})),
            ),
            (pod(whole), pod(report)),
            (node(json!({"images": [{"names": ["i"]}], "phase": "x"})), node(json!({"phase": "x"}))),
            (
                farm(json!({"labels": {"env": "x"}, "image": "i", "main": [{"env": [], "size": 2}]})),
                farm(json!({"labels": {"env": "x"}, "main": [{"size": 2}]})),
            ),
        ];
        for (before, after) in pairs {
            let mut snapshot = Snapshot::written("test");
            snapshot.add([before]);
            redact(&mut snapshot);
            assert_eq!(snapshot.entries[0].json(), Some(&after));
        }
    }
}
