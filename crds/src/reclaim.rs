//! What a queue may take from others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eviction::MAX_EVICTION_SECONDS;

/// What a queue may take from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Reclaim {
    /// The part of the queue tree that pods are evicted from for this queue. `Cluster`: any queue that uses more than its
    /// deserved share. `Subtree`: only queues at or below this one, a preemption fence; on a queue without children
    /// that is none. `None`: no queue. What the queue cannot take comes as other pods finish, and the condition
    /// `Starved` has the reason `Fenced`. Default: `Cluster`. Inheritance: a fence holds for all queues below it.
    pub from: ReclaimFrom,

    /// How long the queue must be starved before pods are evicted for it. Unit: seconds, 0 to 86400 (a day). Default:
    /// 0. Example: 300. Inheritance: none. Until then its share comes as other pods finish; `status.shortSince` is the
    /// start of the wait.
    #[schemars(range(min = 0, max = MAX_EVICTION_SECONDS))]
    pub after_seconds: i32,
}

/// The part of the queue tree that pods are evicted from for a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ReclaimFrom {
    /// All queues.
    #[default]
    Cluster,
    /// Queues at or below this one.
    Subtree,
    /// No queue.
    None,
}
