//! What a snapshot need not show: no decision depends on it.

use serde_json::Value;

use super::{Part, Snapshot};
use crate::objects::{Kind, VARIABLES, is_operator, text};

/// Annotations with these beginnings are read by the operator or by Kubernetes' controllers.
const ANNOTATIONS: [&str; 5] = [
    "quotient.dev/",
    "deployment.kubernetes.io/",
    "controller.kubernetes.io/",
    "kubernetes.io/config.",
    "scheduling.",
];

/// What a kind that is not built in may say of its containers, wherever it says that.
const OF_OTHERS: [&str; 6] = ["image", "images", "command", "args", "env", "envFrom"];

/// Maps whose keys are chosen freely.
const MAPS: [&str; 4] = ["metadata", "labels", "matchLabels", "nodeSelector"];

/// Removes environments, commands, images, volumes and foreign annotations. Names and labels stay: workloads, pods and
/// selectors are matched by them. The flags and the account of the operator stay: decisions depend on them.
pub(crate) fn redact(snapshot: &mut Snapshot) {
    snapshot.is_redacted = true;
    for entry in &mut snapshot.entries {
        entry.change(|object| {
            *object = Part::of(text(object, "/kind")).only(object);
            metadata(object);
            templates(object, is_operator(object));
            if matches!(Kind::find(text(object, "/apiVersion"), text(object, "/kind")), Ok(None)) {
                others(object);
            }
        });
    }
}

fn metadata(object: &mut Value) {
    if let Some(Value::Object(annotations)) = object.pointer_mut("/metadata/annotations") {
        annotations.retain(|name, _| {
            ANNOTATIONS.iter().any(|beginning| name.starts_with(beginning)) || name.contains("pod-group")
        });
    }
}

/// Wherever a list of containers stands, there is a pod's spec around it, and a pod's status around what became of them.
fn templates(value: &mut Value, of_operator: bool) {
    let lists = |name| {
        let items = value.get(name).and_then(Value::as_array);
        items.is_some_and(|items| items.iter().all(Value::is_object))
    };
    if lists("containers") {
        *value = Part::PodSpec { of_operator }.only(value);
    } else if lists("containerStatuses") || lists("initContainerStatuses") {
        *value = Part::PodStatus.only(value);
    }
    match value {
        Value::Object(fields) => {
            fields.get_mut("template").map(metadata);
            // Only the operator has any left, and its image may be given further ones.
            if let Some(Value::Array(variables)) = fields.get_mut("env") {
                variables.retain(|variable| text(variable, "/name").starts_with(VARIABLES));
            }
            fields.values_mut().for_each(|value| templates(value, of_operator));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| templates(value, of_operator)),
        _ => {}
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
            (pod(whole.clone()), pod(report.clone())),
            (
                farm(
                    json!({"containers": 3, "labels": {"containers": "x"}, "pods": [{"containers": ["x"], "size": 2}]}),
                ),
                farm(
                    json!({"containers": 3, "labels": {"containers": "x"}, "pods": [{"containers": ["x"], "size": 2}]}),
                ),
            ),
            (
                farm(json!({"images": ["i"], "first": {"containerStatuses": [whole]}})),
                farm(json!({"first": {"containerStatuses": [report]}})),
            ),
            (node(json!({"images": [{"names": ["i"]}], "capacity": "x"})), node(json!({"capacity": "x"}))),
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
