//! Parts of plans for tests, each with what most of them do not care about.

use std::sync::Arc;

use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId, Preemptor, Stage, Unmet};
use quotient_engine::reasons::{EvictionReason, ShortReason};
use quotient_engine::snapshot::{LeftOut, OwnerKind};

/// So many thousandths of a core, as amounts or bounds.
pub(crate) fn cpu<C: FromIterator<(Resource, Amount)>>(milli: i128) -> C {
    [(Resource::Cpu, Amount::new(milli))].into_iter().collect()
}

/// The same, and so many GiB.
pub(crate) fn cpu_and_memory(milli: i128, gibibytes: i128) -> Amounts {
    let memory = (Resource::Memory, Amount::new(gibibytes << 30));
    [(Resource::Cpu, Amount::new(milli)), memory].into_iter().collect()
}

/// The eviction of a bare pod of queue a/team. Its uid is its name.
pub(crate) fn eviction(pod: &str) -> Eviction {
    Eviction {
        pod: PodId { namespace: "a".into(), name: pod.into(), uid: pod.into() },
        workload: None,
        queue: QueueName::new("a", "team"),
        beneficiary: None,
        reason: EvictionReason::Reclaimed,
        stage: Stage::Committed,
        rank: Some(1),
        priority: 0,
        requests: Amounts::new(),
        used: Arc::default(),
        deserved: Arc::default(),
        grace_seconds: None,
    }
}

/// So many pods of ReplicaSet web that cannot start for this reason.
pub(crate) fn unmet(pods: u32, reason: ShortReason) -> Unmet {
    Unmet {
        preemptor: Preemptor::Owner(OwnerKind::ReplicaSet, "web".into()),
        pods,
        requests: Amounts::new(),
        reason,
        lowered: None,
        incomplete_gang: None,
        controller: None,
        rejection: None,
        left_out: LeftOut::default(),
    }
}
