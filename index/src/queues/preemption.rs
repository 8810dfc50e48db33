//! How pods of a Queue are taken.

use quotient_crds::{LastReplica as WrittenLast, MAX_MIN_RUNTIME_SECONDS, Preemption, PreemptionPolicy};
use quotient_engine::snapshot::{LastReplica, Policy};

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
