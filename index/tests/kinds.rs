//! Every kind that the index keeps, for tests that treat all alike.

use std::sync::LazyLock;

use k8s_openapi::api::core::v1::Pod;
use kube::core::DynamicObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::at;
use quotient_index::pods::LeanPod;
use quotient_index::{Decoded, Index, IndexSettings, WorkloadKind, WorkloadObject};

/// An object from text, as the operator reads it: each way to decode compiles all kinds once more.
fn read<K: DeserializeOwned + 'static>(object: &Value) -> Decoded<K> {
    let read: Decoded<K> = serde_json::from_str(&object.to_string()).unwrap();
    let may_be_undecodable = ["Queue", "QueueJob", "PodDisruptionBudget"].contains(&kind_of(object));
    assert!(may_be_undecodable || read.0.is_ok(), "{object}");
    read
}

/// Calls `$action!(type of object, which kind of it)` for the kind of this name.
macro_rules! for_kind {
    ($kind:expr, $action:ident) => {
        match $kind {
            "Pod" => $action!(quotient_index::pods::LeanPod, &()),
            "Node" => $action!(k8s_openapi::api::core::v1::Node, &()),
            "Namespace" => $action!(k8s_openapi::api::core::v1::Namespace, &()),
            "ReplicaSet" => $action!(k8s_openapi::api::apps::v1::ReplicaSet, &()),
            "StatefulSet" => $action!(k8s_openapi::api::apps::v1::StatefulSet, &()),
            "DaemonSet" => $action!(k8s_openapi::api::apps::v1::DaemonSet, &()),
            "Job" => $action!(k8s_openapi::api::batch::v1::Job, &()),
            "Deployment" => $action!(k8s_openapi::api::apps::v1::Deployment, &()),
            "HorizontalPodAutoscaler" => {
                $action!(k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler, &())
            }
            "PodDisruptionBudget" => $action!(k8s_openapi::api::policy::v1::PodDisruptionBudget, &()),
            "PodGroup" => $action!(quotient_index::PodGroup, &quotient_index::POD_GROUPS[0]),
            "PriorityClass" => $action!(k8s_openapi::api::scheduling::v1::PriorityClass, &()),
            "LimitRange" => $action!(k8s_openapi::api::core::v1::LimitRange, &()),
            "ResourceQuota" => $action!(k8s_openapi::api::core::v1::ResourceQuota, &()),
            "QueueJob" => $action!(quotient_crds::QueueJob, &()),
            "Queue" => $action!(quotient_crds::Queue, &()),
            other => panic!("no such kind here: {other}"),
        }
    };
}

/// The kinds that snapshots are made of.
pub(super) const KINDS: [&str; 16] = [
    "Pod",
    "Node",
    "Namespace",
    "ReplicaSet",
    "StatefulSet",
    "DaemonSet",
    "Job",
    "Deployment",
    "HorizontalPodAutoscaler",
    "PodDisruptionBudget",
    "PodGroup",
    "PriorityClass",
    "LimitRange",
    "QueueJob",
    "Queue",
    "ResourceQuota",
];

fn kind_of(object: &Value) -> &str {
    object["kind"].as_str().unwrap()
}

pub(super) use for_kind;

/// Kinds that are known by configuration: one with a template, and one with a head and any number of groups.
static CONFIGURED: LazyLock<Vec<WorkloadKind>> = LazyLock::new(|| {
    let setting = r#"[
        {"group": "example.org", "version": "v1", "kind": "Fleet", "plural": "fleets",
         "replicasPath": "spec.size", "templatePath": "spec.template"},
        {"group": "ray.io", "version": "v1", "kind": "RayCluster", "plural": "rayclusters",
         "templatePath": "spec.headGroupSpec.template"},
        {"group": "ray.io", "version": "v1", "kind": "RayCluster", "plural": "rayclusters",
         "replicasPath": "spec.workerGroupSpecs[*].replicas", "templatePath": "spec.workerGroupSpecs[*].template"}
    ]"#;
    WorkloadKind::read_setting(setting).unwrap()
});

/// The configured kind of this name, if there is one.
pub(super) fn configured(kind: &str) -> Option<&'static WorkloadKind> {
    CONFIGURED.iter().find(|configured| configured.kind() == kind)
}

/// What is read of an object of this kind.
pub(super) fn workload(kind: &WorkloadKind, object: &Value) -> Decoded<WorkloadObject> {
    kind.read(serde_json::from_value::<Decoded<DynamicObject>>(object.clone()).unwrap())
}

pub(super) fn apply_value(index: &mut Index, object: &Value) -> bool {
    if let Some(kind) = configured(kind_of(object)) {
        return index.apply_decoded(kind, &workload(kind, object));
    }
    macro_rules! apply {
        ($kind:ty, $of:expr) => {
            index.apply_decoded::<$kind>($of, &read(object))
        };
    }
    if kind_of(object) == "Pod" {
        nothing_is_missed_of_a_pod(object);
    }
    for_kind!(kind_of(object), apply)
}

/// The index reads the same of a pod when it has only what is taken out of its JSON.
fn nothing_is_missed_of_a_pod(object: &Value) {
    let shown = |pod: &Pod| {
        let mut index = Index::new(IndexSettings::default());
        index.apply(pod);
        format!("{:?}", index.snapshot(at("12:00:00")))
    };
    let (whole, lean) = (read::<Pod>(object).0.unwrap(), read::<LeanPod>(object).0.unwrap());
    assert_eq!(shown(&whole), shown(&lean.0), "{object}");
}

pub(super) fn delete_value(index: &mut Index, object: &Value) -> bool {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
    let (namespace, name, uid) = (text("namespace"), text("name"), text("uid"));
    macro_rules! delete {
        ($kind:ty, $of:expr) => {
            index.delete::<$kind>($of, namespace, name, uid)
        };
    }
    if let Some(kind) = configured(kind_of(object)) {
        return delete!(WorkloadObject, kind);
    }
    for_kind!(kind_of(object), delete)
}

pub(super) fn relist_begin(index: &mut Index, kind: &str) {
    macro_rules! begin {
        ($kind:ty, $of:expr) => {
            index.relist_begin::<$kind>($of)
        };
    }
    match configured(kind) {
        Some(kind) => begin!(WorkloadObject, kind),
        None => for_kind!(kind, begin),
    }
}

pub(super) fn relist_finish(index: &mut Index, kind: &str) -> bool {
    macro_rules! finish {
        ($kind:ty, $of:expr) => {
            index.relist_finish::<$kind>($of)
        };
    }
    match configured(kind) {
        Some(kind) => finish!(WorkloadObject, kind),
        None => for_kind!(kind, finish),
    }
}
