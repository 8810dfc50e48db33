//! From whom pods are taken, and who goes last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The longest `minRuntimeSeconds`: 30 days.
pub const MAX_MIN_RUNTIME_SECONDS: i32 = 2_592_000;

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
