//! A Queue as its administrator wrote it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Admission, Mode, Remembered};
use crate::amounts::Bounds;
use crate::labels::Selector;
use crate::names::{QueueName, QueueUid};
use crate::time::Timestamp;

/// What the engine needs to know of a Queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// Its id for life.
    pub uid: QueueUid,
    /// Its `metadata.generation`: it changes with its spec.
    pub generation: i64,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// When it was created: the oldest in a namespace governs it.
    pub created: Timestamp,
    /// Its weight among its siblings; 0 receives only what no sibling demands.
    pub weight: u32,
    /// Its standing claim: demand of the resources that it names is at least this, used or not. Everything else is
    /// observed. A parent demands what its children demand.
    pub request: Bounds,
    /// Lower bound on its share, as far as its demand is that much.
    pub guaranteed: Bounds,
    /// Upper bound on its share.
    pub limit: Bounds,
    /// The queue that it takes its share from; `None` for the cluster itself.
    pub parent: Option<QueueName>,
    /// Whose parent it may be. `Some` makes it a parent, which governs no pods.
    pub children: Option<Acceptance>,
    /// What it, and the queues below it, may take.
    pub reclaim: Reclaim,
    /// What may be taken from it, as its spec says.
    pub eviction: EvictionRules,
    /// Whether its workloads yield to workloads of it that have a higher priority.
    pub preemption: Preemption,
    /// How far Quotient goes in it and in the queues below it.
    pub mode: Mode,
    /// What happens to a new pod for which it has no room.
    pub admission: Admission,
    /// Until when its quota does not shrink and no pod is evicted from it or for it; the same holds below it.
    pub paused_until: Option<Timestamp>,
    /// What earlier decisions left in its status.
    pub remembered: Remembered,
    /// Whether it is being deleted. Until it is gone it governs its namespace, but owns nothing new there.
    pub leaving: bool,
    /// What is wrong with its spec, if it could not be understood; the text is for its administrator.
    pub invalid: Option<Arc<str>>,
}

impl Queue {
    /// Whether it has not been starved for as long as it waits before pods are evicted for it.
    pub fn is_delayed(&self, now: Timestamp) -> bool {
        let since = self.remembered.short_since.unwrap_or(now);
        now.millis_since(since) < i64::from(self.reclaim.after_seconds).saturating_mul(1000)
    }
}

/// Which namespaces' Queues a parent accepts as children.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Acceptance {
    /// Those of its own namespace.
    Same,
    /// Those of every namespace.
    All,
    /// Those of namespaces with these labels.
    Selector(Selector),
}

/// What a queue, and the queues below it, may take from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reclaim {
    /// From which part of the tree.
    pub from: ReclaimFrom,
    /// How long it has to have been starved before pods are evicted for it.
    pub after_seconds: u32,
}

/// The part of the queue tree that pods are evicted from for a queue.
// S-HARDEN §Changes in fence selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReclaimFrom {
    /// All queues.
    #[default]
    Cluster,
    /// Queues at or below this one.
    Subtree,
    /// No queue.
    #[serde(rename = "None")]
    Nothing,
}

/// What may be taken from a queue. A rule that is left out is inherited from the parent queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvictionRules {
    /// Whether its pods may be evicted at all.
    pub policy: Option<EvictionPolicy>,
    /// How long a pod has to have run before it is evicted like others.
    pub min_runtime_seconds: Option<u32>,
    /// Whether the last replica of a workload may be evicted.
    pub last_replica: Option<LastReplica>,
    /// Whether gangs may be evicted as a whole.
    pub gangs: Option<GangPolicy>,
    /// The longest grace period that an evicted pod is given.
    pub max_grace_seconds: Option<u32>,
    /// How long past its deadline a terminating pod is evicted again, without grace.
    pub force_after_seconds: Option<u32>,
}

/// The longest grace period of an evicted pod where no rule names one: ten minutes, long enough for a checkpoint, and short
/// enough that another team's share does not wait for a pod that asks for hours.
const MAX_GRACE_SECONDS: u32 = 600;

impl EvictionRules {
    /// These rules, and those of the parent queue where these leave one out.
    #[must_use]
    pub fn or(self, parent: Self) -> Self {
        Self {
            policy: self.policy.or(parent.policy),
            min_runtime_seconds: self.min_runtime_seconds.or(parent.min_runtime_seconds),
            last_replica: self.last_replica.or(parent.last_replica),
            gangs: self.gangs.or(parent.gangs),
            max_grace_seconds: self.max_grace_seconds.or(parent.max_grace_seconds),
            force_after_seconds: self.force_after_seconds.or(parent.force_after_seconds),
        }
    }

    /// How long a pod runs at least before it is as good a victim as others.
    pub fn min_runtime_seconds(&self) -> i64 {
        self.min_runtime_seconds.unwrap_or_default().into()
    }

    /// The longest grace period that an evicted pod is given.
    pub fn most_grace_seconds(&self) -> u32 {
        self.max_grace_seconds.unwrap_or(MAX_GRACE_SECONDS)
    }

    /// The grace period to evict a pod with that has `own`; none if the pod keeps its own.
    pub fn grace_seconds(&self, own: u32) -> Option<u32> {
        let most = self.most_grace_seconds();
        (own > most).then_some(most)
    }
}

/// Whether pods of this queue may be evicted. `Allowed`: while the queue uses more than its deserved share. `Never`:
/// not at all; what the queue uses above its share comes back as its pods finish, and is deducted from capacity before
/// other queues get their share. Default: `Allowed`. Inheritance: from the parent queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EvictionPolicy {
    /// While the queue uses more than its deserved share.
    #[default]
    Allowed,
    /// Not at all.
    Never,
}

/// Whether the last running pod of a workload, such as a ReplicaSet, may be evicted. `LastResort`: if nothing else is
/// left. `Never`: not at all, although the queue may then stay above its share. Default: `LastResort`. Inheritance:
/// from the parent queue.
// S-MCM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LastReplica {
    /// If nothing else is left.
    #[default]
    LastResort,
    /// Not at all.
    Never,
}

/// Whether gangs, which are pods useful only together, may be evicted. `WholeLast`: surplus pods first; a gang itself
/// only when no surplus is left, and then as a whole. `Never`: only surplus pods. Default: `WholeLast`. Inheritance:
/// from the parent queue. The annotation quotient.dev/gang-min-available on the pods states the minimum; the pods of
/// one workload are a gang, or the pods with the same quotient.dev/gang.
// S-GANG: what a gang needs to run is never taken in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GangPolicy {
    /// Their surplus pods first, then whole gangs.
    #[default]
    WholeLast,
    /// Only their surplus pods.
    Never,
}

/// Whether workloads of a queue yield to workloads of the same queue that have a higher priority.
// S-MCM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Preemption {
    /// They do not.
    #[default]
    Never,
    /// Workloads of a strictly lower priority are scaled down.
    LowerPriority,
}
