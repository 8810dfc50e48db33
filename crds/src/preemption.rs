//! From whom pods are taken, and who goes last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest `minRuntimeSeconds`: 30 days.
pub const MAX_MIN_RUNTIME_SECONDS: i32 = 2_592_000;

/// The longest `delaySeconds`, `gracePeriodSeconds` and `forceDeleteAfterSeconds`: a day.
pub const MAX_PREEMPTION_SECONDS: i32 = 86_400;

/// How pods are taken when shares move.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Preemption {
    /// Between whom pods are evicted. `Default`: wherever a queue holds more than it deserves. `Fence`: for a
    /// queue at or below this one, pods are evicted only from queues at or below it; a share that is held
    /// outside comes as those pods finish, and `Starved` says `Fenced`. On a queue without children: nobody is
    /// evicted for it. `Disabled`: pods at or below this queue are never evicted; what they hold above their
    /// share leaves as they finish and is promised to nobody before. Applies to all queues below, whatever they
    /// say themselves. Default: `Default`.
    pub policy: PreemptionPolicy,

    /// Whether the last pod that an owner, such as a ReplicaSet, has running in this queue may be evicted.
    /// `LastResort`: only when nothing else is left. `Never`: not at all, and what it requests is then part of
    /// the queue's share before all others' guarantees. Counts for the pods of this queue; children do not
    /// inherit it. Default: `LastResort`.
    pub last_replica: LastReplica,

    /// How long, in seconds, a pod must have been running before it is evicted like others: 0 to 2592000 (30
    /// days). A pod that runs shorter goes only when nothing else is left, as do pods annotated
    /// quotient.dev/preemptible: last. Example: 600, so that work of ten minutes is rarely lost. Counts for the
    /// pods of this queue; children do not inherit it. Default: 0.
    #[schemars(range(min = 0, max = MAX_MIN_RUNTIME_SECONDS))]
    pub min_runtime_seconds: i32,

    /// Whether gangs, pods that are of use only together, may be evicted. `WholeLast`: what a gang has beyond the
    /// pods that it needs goes first; a gang itself goes only when no such surplus is left, and then as a whole.
    /// `Never`: only surplus goes. How many pods a gang needs is said by their annotation
    /// quotient.dev/gang-min-available; they are the pods of one owner, or those that have the same
    /// quotient.dev/gang. Counts for the pods of this queue; children do not inherit it. Default: `WholeLast`.
    pub gang: GangPolicy,

    /// Whether pods of this queue yield to pods of this queue that are of a higher priority. `Never`: pods that
    /// have room keep it. `LowerPriority`: when the quota rejects pods of a Deployment, a ReplicaSet, a StatefulSet
    /// or a Job, or no node takes them, Quotient lowers the size of workloads of a strictly lower priority, the
    /// lowest first, by as many pods as it takes. It restores the size when the queue and a node have room. The
    /// last replica of a Deployment, ReplicaSet or StatefulSet stays; lastReplica decides about the last pod of a
    /// Job. Workloads with an autoscaler (HPA), and those annotated quotient.dev/within-queue: Never, keep
    /// their size. The operator does this in mode Full only; kubectl quotient simulate shows it beforehand.
    /// Counts for the pods of this queue; children do not inherit it. Default: `Never`.
    pub within_queue: WithinQueue,

    /// What makes pods of others go for this queue. `OnClaim`: that it asks for its share, whether or not it has
    /// work for it. `OnUse`: that pods or owners of its own lack room; quotas move as with `OnClaim`, but nobody
    /// is evicted for an idle queue. It makes a difference only with demand: Declared, because observed demand is
    /// always work. Counts for this queue; children do not inherit it. Default: `OnClaim`.
    pub reclaim: Reclaim,

    /// How long, in seconds, this queue must have been short of its share before pods of others are evicted for
    /// it: 0 to 86400 (a day). Until then its share comes as their pods finish by themselves; status.shortSince
    /// says since when it has been waiting. Example: 300. Counts for this queue; children do not inherit it.
    /// Default: 0.
    #[schemars(range(min = 0, max = MAX_PREEMPTION_SECONDS))]
    pub delay_seconds: i32,

    /// How long, in seconds, a pod of this queue that is evicted for others has to end by itself: 0 to 86400 (a
    /// day). It replaces the pod's own terminationGracePeriodSeconds, be that shorter or longer. With 0 the pod is
    /// gone from the API at once, while its node may still be stopping it. Example: 30. Counts for the pods of
    /// this queue; children do not inherit it. Default: the pod's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_PREEMPTION_SECONDS))]
    pub grace_period_seconds: Option<i32>,

    /// How long, in seconds, a terminating pod of this queue may overstay its grace before it is deleted without
    /// waiting for its node: 0 to 86400 (a day). A pod that does so is mostly on a node that is lost, and holds
    /// its part of a share until it is gone. But what it runs may go on while its successor starts: leave this
    /// out where two at once do harm, as in most cases of a StatefulSet. Example: 600. Counts for the pods of
    /// this queue; children do not inherit it. Default: never; the pod is only reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = MAX_PREEMPTION_SECONDS))]
    pub force_delete_after_seconds: Option<i32>,
}

/// Between whom pods are evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PreemptionPolicy {
    /// Wherever a queue holds more than it deserves.
    #[default]
    Default,
    /// For queues at or below this one, only from queues at or below it.
    Fence,
    /// Never from queues at or below this one.
    Disabled,
}

/// Whether the last pod of an owner may be evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LastReplica {
    /// When nothing else is left.
    #[default]
    LastResort,
    /// Never.
    Never,
}

/// Whether gangs may be evicted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum GangPolicy {
    /// Their surplus first, then whole gangs.
    #[default]
    WholeLast,
    /// Only their surplus.
    Never,
}

/// What makes pods of others go for a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Reclaim {
    /// Its claim to its share.
    #[default]
    OnClaim,
    /// Pods or owners of its own that lack room.
    OnUse,
}

/// Whether pods of a queue yield to other pods of the same queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WithinQueue {
    /// Pods that have room keep it.
    #[default]
    Never,
    /// Quotient lowers the size of workloads of a strictly lower priority.
    LowerPriority,
}
