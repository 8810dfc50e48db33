//! What a snapshot need not show: no decision depends on it.

use serde_json::{Map, Value};

use super::Snapshot;
use crate::objects::{VARIABLES, is_operator, text};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Snapshot;
    use serde_json::json;

    #[test]
    fn what_may_be_secret_goes_and_what_is_decided_on_stays() {
        let mut snapshot = Snapshot::observed(quotient_engine::time::Timestamp::default(), "test");
        snapshot.add(vec![json!({
            "kind": "Job",
            "metadata": {"name": "a", "annotations": {"note": "x", "quotient.dev/preemptible": "last"}},
            "spec": {"template": {
                "metadata": {"annotations": {"vault": "y"}, "labels": {"app": "a"}},
                "spec": {"volumes": [{"name": "v"}], "containers": [
                    {"name": "c", "env": [{"name": "PASSWORD"}], "image": "i", "resources": {"requests": {"cpu": 1}}},
                ]},
            }},
        })]);
        redact(&mut snapshot);
        let expected = json!({
            "kind": "Job",
            "metadata": {"name": "a", "annotations": {"quotient.dev/preemptible": "last"}},
            "spec": {"template": {
                "metadata": {"annotations": {}, "labels": {"app": "a"}},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": 1}}}]},
            }},
        });
        assert_eq!(snapshot.entries[0].json(), Some(&expected));
    }
}
