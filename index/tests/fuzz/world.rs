//! A sound cluster of every kind of object, and the one queue in it that is left alone.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Namespace, Node, Pod, ResourceQuota};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use quotient_crds::Queue;
use quotient_engine::time::Timestamp;
use quotient_index::{Decoded, Index, IndexSettings, Kind};
use serde::Deserialize as _;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// When the cluster is looked at.
pub(super) fn now() -> Timestamp {
    Timestamp::from_seconds(1_795_262_400)
}

/// Namespace and name of the queue that no damage is done to.
pub(super) const fn bystander() -> (&'static str, &'static str) {
    ("bystander", "bystander")
}

/// The objects that are damaged; the bystander's are not among them.
pub(super) fn manifests() -> Vec<Value> {
    read(include_str!("sound.yaml"))
}

fn read(text: &str) -> Vec<Value> {
    serde_yaml_ng::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).unwrap())
        .collect()
}

/// An index of the bystander and of those `objects` that decode.
pub(super) fn index_of(objects: &[Value]) -> Index {
    let mut index = Index::new(IndexSettings { ready_seconds: 0, ..IndexSettings::default() });
    let elsewhere = |object: &&Value| {
        let metadata = &object["metadata"];
        metadata["namespace"] != "bystander" && (object["kind"] != "Node" || metadata["name"] != "bystander")
    };
    let sound = read(include_str!("bystander.yaml"));
    for object in sound.iter().chain(objects.iter().filter(elsewhere)) {
        match object["kind"].as_str().unwrap_or_default() {
            "Namespace" => apply::<Namespace>(&mut index, object),
            "Node" => apply::<Node>(&mut index, object),
            "Pod" => apply::<Pod>(&mut index, object),
            "ResourceQuota" => apply::<ResourceQuota>(&mut index, object),
            "ReplicaSet" => apply::<ReplicaSet>(&mut index, object),
            "StatefulSet" => apply::<StatefulSet>(&mut index, object),
            "DaemonSet" => apply::<DaemonSet>(&mut index, object),
            "Job" => apply::<Job>(&mut index, object),
            "Deployment" => apply::<Deployment>(&mut index, object),
            "HorizontalPodAutoscaler" => apply::<HorizontalPodAutoscaler>(&mut index, object),
            "PodDisruptionBudget" => apply::<PodDisruptionBudget>(&mut index, object),
            "PriorityClass" => apply::<PriorityClass>(&mut index, object),
            "Queue" => {
                if let Ok(object) = serde_json::from_value::<Decoded<Queue>>(object.clone()) {
                    index.apply_decoded(&(), &object);
                }
            }
            other => panic!("no kind {other}"),
        }
    }
    index
}

fn apply<K: Kind<DynamicType = ()> + DeserializeOwned>(index: &mut Index, object: &Value) {
    if let Ok(object) = serde_json::from_value::<K>(object.clone()) {
        index.apply(&object);
    }
}
