//! How far Quotient goes in a queue, what the queue may take from others, and what may be taken from it.

pub use quotient_snapshot::{EvictionPolicy, GangPolicy, LastReplica, Mode, Preemption, ReclaimFrom};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

/// What happens to a new pod without room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Admission {
    /// The quota rejects it.
    #[default]
    Quota,
    /// It waits gated.
    Gate,
}

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

/// The longest `minRuntimeSeconds`: 30 days.
pub const MAX_MIN_RUNTIME_SECONDS: i32 = 2_592_000;

/// The longest `afterSeconds`, `maxGraceSeconds` and `forceAfterSeconds`: a day.
pub const MAX_EVICTION_SECONDS: i32 = 86_400;

/// What may be taken from a queue. Every field is inherited from the parent queue where it is left out.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Eviction {
    /// Whether pods of this queue may be evicted.
    pub policy: Option<EvictionPolicy>,

    /// How long a pod must have run before it is evicted like others. Unit: seconds, 0 to 2592000 (30 days). Default: 0.
    /// Example: 600, so that work of ten minutes is rarely lost. Inheritance: from the parent queue. A pod that has run
    /// for less is evicted only if nothing else is left, like pods with the annotation quotient.dev/preemptible: last.
    #[schemars(range(min = 0, max = MAX_MIN_RUNTIME_SECONDS))]
    pub min_runtime_seconds: Option<i32>,

    /// Whether the last running pod of a workload may be evicted.
    pub last_replica: Option<LastReplica>,

    /// Whether gangs may be evicted.
    pub gangs: Option<GangPolicy>,

    /// The longest grace period of a pod that is evicted. Unit: seconds, 0 to 86400 (a day). Default: 600. Example: 30.
    /// Inheritance: from the parent queue. A pod whose terminationGracePeriodSeconds is shorter keeps its own. With 0 the
    /// pod is gone from the API at once, while its node may still be stopping it. A pod that is terminating with a longer
    /// grace is evicted again with this one if another queue needs its room.
    #[schemars(range(min = 0, max = MAX_EVICTION_SECONDS))]
    pub max_grace_seconds: Option<i32>,

    /// How long a terminating pod may overstay its grace period before it is deleted without waiting for its node. Unit:
    /// seconds, 0 to 86400 (a day). Default: never; the pod is only reported. Example: 600. Inheritance: from the
    /// parent queue. Such a pod is mostly on a lost node, and what it runs may go on while its successor starts, so
    /// leave this out where two at once do harm, as with most StatefulSets.
    #[schemars(range(min = 0, max = MAX_EVICTION_SECONDS))]
    pub force_after_seconds: Option<i32>,
}
