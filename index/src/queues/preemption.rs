//! How pods of a Queue are taken.

use quotient_crds::{
    GangPolicy as WrittenGang, LastReplica as WrittenLast, MAX_MIN_RUNTIME_SECONDS, MAX_PREEMPTION_SECONDS,
    Preemption, PreemptionPolicy, Reclaim, WithinQueue as WrittenWithin,
};
use quotient_engine::snapshot::{GangPolicy, LastReplica, Policy, ReclaimOn, WithinQueue};

use super::mistakes::Mistakes;

pub(super) fn policy(preemption: &Preemption) -> Policy {
    match preemption.policy {
        PreemptionPolicy::Default => Policy::Default,
        PreemptionPolicy::Fence => Policy::Fence,
        PreemptionPolicy::Disabled => Policy::Disabled,
    }
}

pub(super) fn last_replica(preemption: &Preemption) -> LastReplica {
    match preemption.last_replica {
        WrittenLast::LastResort => LastReplica::LastResort,
        WrittenLast::Never => LastReplica::Never,
    }
}

pub(super) fn min_runtime_seconds(preemption: &Preemption, mistakes: &mut Mistakes) -> u32 {
    mistakes.whole(preemption.min_runtime_seconds, MAX_MIN_RUNTIME_SECONDS, "preemption.minRuntimeSeconds")
}

pub(super) fn gang(preemption: &Preemption) -> GangPolicy {
    match preemption.gang {
        WrittenGang::WholeLast => GangPolicy::WholeLast,
        WrittenGang::Never => GangPolicy::Never,
    }
}

pub(super) fn within_queue(preemption: &Preemption) -> WithinQueue {
    match preemption.within_queue {
        WrittenWithin::Never => WithinQueue::Never,
        WrittenWithin::LowerPriority => WithinQueue::LowerPriority,
    }
}

pub(super) fn reclaim(preemption: &Preemption) -> ReclaimOn {
    match preemption.reclaim {
        Reclaim::OnClaim => ReclaimOn::Claim,
        Reclaim::OnUse => ReclaimOn::Use,
    }
}

pub(super) fn delay_seconds(preemption: &Preemption, mistakes: &mut Mistakes) -> u32 {
    mistakes.whole(preemption.delay_seconds, MAX_PREEMPTION_SECONDS, "preemption.delaySeconds")
}

pub(super) fn grace_seconds(preemption: &Preemption, mistakes: &mut Mistakes) -> Option<u32> {
    let field = "preemption.gracePeriodSeconds";
    preemption.grace_period_seconds.map(|seconds| mistakes.whole(seconds, MAX_PREEMPTION_SECONDS, field))
}

pub(super) fn force_delete_after_seconds(preemption: &Preemption, mistakes: &mut Mistakes) -> Option<u32> {
    let field = "preemption.forceDeleteAfterSeconds";
    preemption
        .force_delete_after_seconds
        .map(|seconds| mistakes.whole(seconds, MAX_PREEMPTION_SECONDS, field))
}
