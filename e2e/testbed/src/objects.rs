//! The objects that nearly every test needs, as plain values to change before they are created.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{
    Container, Namespace, Node, NodeStatus, Pod, PodSpec, ResourceQuota, ResourceQuotaSpec,
    ResourceRequirements,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::annotations;

/// Amounts per resource, such as `[("cpu", "2"), ("memory", "4Gi")]`.
pub type Amounts<'a> = [(&'a str, &'a str)];

/// A node with these amounts as capacity and allocatable, and room for 110 pods unless it says otherwise.
pub fn node(name: &str, allocatable: &Amounts<'_>) -> Node {
    let mut amounts = quantities(allocatable);
    amounts.entry("pods".to_owned()).or_insert_with(|| Quantity("110".to_owned()));
    Node {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some([("kubernetes.io/hostname".to_owned(), name.to_owned())].into()),
            ..ObjectMeta::default()
        },
        status: Some(NodeStatus {
            capacity: Some(amounts.clone()),
            allocatable: Some(amounts),
            ..NodeStatus::default()
        }),
        ..Node::default()
    }
}

/// A namespace.
pub fn namespace(name: &str) -> Namespace {
    Namespace {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    }
}

/// A pod of one container with these requests, and limits for the resources that cannot do without (all but cpu and
/// memory).
pub fn pod(namespace: &str, name: &str, requests: &Amounts<'_>) -> Pod {
    let requests = quantities(requests);
    let mut limits = requests.clone();
    limits.retain(|resource, _| resource != "cpu" && resource != "memory");
    Pod {
        metadata: metadata(namespace, name),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "main".to_owned(),
                image: Some("pause".to_owned()),
                resources: Some(ResourceRequirements {
                    requests: Some(requests),
                    limits: Some(limits),
                    ..ResourceRequirements::default()
                }),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
        ..Pod::default()
    }
}

/// What most pods of tests request.
pub fn one_cpu() -> Value {
    json!({"cpu": "1", "memory": "1Gi"})
}

/// A list of objects.
pub fn list(items: impl IntoIterator<Item = Value>) -> Value {
    json!({"apiVersion": "v1", "kind": "List", "items": items.into_iter().collect::<Vec<_>>()})
}

/// The definition of a kind whose objects may say anything.
pub fn custom_kind(group: &str, version: &str, kind: &str, plural: &str) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase()},
            "versions": [
                {"name": version, "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    })
}

/// The template of a pod that [`pod`] describes, which ends without grace.
pub fn template(app: &str, requests: &Value) -> Value {
    let needs_limit = |resource: &str| resource != "cpu" && resource != "memory";
    let limits: Value = requests.as_object().map_or_else(Value::default, |requests| {
        requests.clone().into_iter().filter(|(resource, _)| needs_limit(resource)).collect()
    });
    json!({
        "metadata": {"labels": {"app": app}},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main",
                "image": "registry.k8s.io/pause:3.10",
                "resources": {"requests": requests, "limits": limits},
            }],
        },
    })
}

/// A workload of a kind that is built in, of `size` pods with this [`template`]. A DaemonSet has no size.
#[expect(clippy::indexing_slicing, reason = "an object gets the field that it lacks")]
pub fn workload(kind: &str, namespace: &str, name: &str, size: u32, requests: &Value) -> Value {
    let mut spec = json!({"template": template(name, requests)});
    if kind == "Job" {
        spec["parallelism"] = size.into();
        spec["completions"] = size.into();
        spec["template"]["spec"]["restartPolicy"] = "Never".into();
    } else {
        spec["selector"] = json!({"matchLabels": {"app": name}});
    }
    if ["Deployment", "ReplicaSet", "StatefulSet"].contains(&kind) {
        spec["replicas"] = size.into();
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = name.into();
    }
    let version = if kind == "Job" { "batch/v1" } else { "apps/v1" };
    json!({"apiVersion": version, "kind": kind, "metadata": {"namespace": namespace, "name": name}, "spec": spec})
}

/// The same workload with this field in the spec of its pods.
#[expect(clippy::indexing_slicing, reason = "an object gets the field that it lacks")]
pub fn pods_with(mut workload: Value, field: &str, value: impl Into<Value>) -> Value {
    workload["spec"]["template"]["spec"][field] = value.into();
    workload
}

/// The same workload, whose pods have a grace of 30 s and are [held](annotations::HOLD_TERMINATION) when they terminate.
#[expect(clippy::indexing_slicing, reason = "an object gets the field that it lacks")]
pub fn held(mut workload: Value) -> Value {
    workload["spec"]["template"]["metadata"]["annotations"] = json!({annotations::HOLD_TERMINATION: "true"});
    pods_with(workload, "terminationGracePeriodSeconds", 30)
}

/// A quota with these limits (`requests.cpu`, `pods`, …).
pub fn resource_quota(namespace: &str, name: &str, hard: &Amounts<'_>) -> ResourceQuota {
    ResourceQuota {
        metadata: metadata(namespace, name),
        spec: Some(ResourceQuotaSpec { hard: Some(quantities(hard)), ..ResourceQuotaSpec::default() }),
        ..ResourceQuota::default()
    }
}

/// Amounts as the API has them.
pub fn quantities(amounts: &Amounts<'_>) -> BTreeMap<String, Quantity> {
    amounts
        .iter()
        .map(|(resource, amount)| ((*resource).to_owned(), Quantity((*amount).to_owned())))
        .collect()
}

fn metadata(namespace: &str, name: &str) -> ObjectMeta {
    ObjectMeta { namespace: Some(namespace.to_owned()), name: Some(name.to_owned()), ..ObjectMeta::default() }
}
