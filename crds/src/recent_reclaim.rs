//! Pods of a queue that Quotient evicted lately.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ResourceMap;

/// The most entries of `status.recentReclaims` that the operator writes.
///
/// The schema does not know this bound: a status that it refused would be lost as a whole.
pub const MAX_RECENT_RECLAIMS: usize = 20;

/// An evicted pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecentReclaim {
    /// When the API server accepted the eviction.
    pub time: Time,
    /// Its name.
    pub pod: String,
    /// Its metadata.uid.
    pub uid: String,
    /// Its workload. Absent for a bare pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadReference>,
    /// The queue that needed the room, as namespace/name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneficiary: Option<String>,
    /// What it requested.
    pub amounts: ResourceMap,
    /// Its place among the candidates of its queue. 1 is the least protected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rank: Option<i32>,
    /// `Reclaimed`, `Overcommitted` or `MovedAside`.
    pub reason: String,
}

/// A workload: the Deployment rather than its ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadReference {
    /// Its kind, such as `Deployment`.
    pub kind: String,
    /// Its name.
    pub name: String,
}
