//! Pods of a queue that Quotient evicted lately.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ResourceMap;

/// The most entries of `status.recentReclaims` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_RECENT_RECLAIMS: usize = 20;

/// A pod of the queue that Quotient evicted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentReclaim {
    /// The time at which the API server accepted the eviction.
    pub time: Time,
    /// The name of the pod in the namespace of the queue.
    pub pod: String,
    /// The metadata.uid of the pod.
    pub uid: String,
    /// The workload that the pod belonged to. Absent for a pod without a controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReference>,
    /// The queue that needed the room, as namespace/name. Absent if the capacity or a limit was exceeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneficiary: Option<String>,
    /// The amounts that the pod requested.
    pub amounts: ResourceMap,
    /// The place of the pod in the order of the candidates of its queue. 1 is the least protected pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<i32>,
    /// The reason of the eviction, in one CamelCase word for programs: `Reclaimed`, `Overcommitted` or `MovedAside`.
    pub reason: String,
}

/// A workload in the namespace of the queue: the Deployment rather than its ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadReference {
    /// The kind of the workload, such as `Deployment` or `Job`.
    pub kind: String,
    /// The name of the workload.
    pub name: String,
}
