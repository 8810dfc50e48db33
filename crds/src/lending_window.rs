//! How much is lent to a queue.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ResourceQuantity;

/// The window by which capacity that no queue needs is lent to a queue, of one resource.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<Time>,
}
