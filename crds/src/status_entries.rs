//! The entries of lists and maps in the status of a queue.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use crate::{ResourceMap, ResourceQuantity};

/// The most entries of `status.unmet` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_UNMET: usize = 8;

/// Pods of one workload, or one pod, that cannot start now, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Unmet {
    /// The kind of the workload, such as `ReplicaSet` or `Job`; `Pod` for a pod without one.
    pub kind: String,
    /// Its name in the namespace of the queue.
    pub name: String,
    /// The number of its pods that cannot start.
    #[schemars(range(min = 0))]
    pub pods: i32,
    /// Why they cannot start, in one CamelCase word for programs.
    pub reason: String,
    /// Why they cannot start and what would help, in a sentence.
    pub message: String,
}

/// The most entries of `status.setAside` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_SET_ASIDE: usize = 64;

/// A workload, or a pod without one, that had room and did not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetAside {
    /// The kind of the object, such as Deployment; Pod for a pod without a controller.
    pub kind: String,
    /// The name of the object.
    pub name: String,
    /// The metadata.uid of the object.
    pub uid: String,
    /// A number that changes with the spec of the object.
    #[serde(default)]
    pub revision: i64,
    /// Since when it has been set aside.
    pub since: Time,
    /// How many times it was set aside in a row. 0 once a pod of it has become Ready.
    #[serde(default)]
    pub times: i32,
    /// How many nodes counted then.
    #[serde(default)]
    pub nodes: i32,
    /// Whether no node had room for it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lacked_room: bool,
}

/// The most entries of `status.recentReclaims` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_RECENT_RECLAIMS: usize = 20;

/// A pod of the queue that Quotient evicted.
#[skip_serializing_none]
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
    pub workload: Option<WorkloadReference>,
    /// The queue that needed the room, as namespace/name. Absent if the capacity or a limit was exceeded.
    pub beneficiary: Option<String>,
    /// The amounts that the pod requested.
    pub amounts: ResourceMap,
    /// The place of the pod in the order of the candidates of its queue. 1 is the least protected pod.
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

/// The window by which capacity that no queue needs is lent to a queue, of one resource.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LendingWindow {
    /// The most that is lent.
    pub size: ResourceQuantity,
    /// The least deserved share since the window got this size.
    pub target: ResourceQuantity,
    /// The time when more than half of the window was used last, or when it began.
    pub used: Time,
    /// The time when the window was halved last, because pods of the queue were evicted for a pod that waited for a node. None
    /// if that is more than ten minutes ago.
    pub lost: Option<Time>,
}
