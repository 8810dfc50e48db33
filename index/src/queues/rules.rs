//! What a Queue may take, and what may be taken from it.

use quotient_crds::{
    Admission as WrittenAdmission, Eviction, EvictionPolicy as WrittenPolicy, GangPolicy as WrittenGangs,
    LastReplica as WrittenLast, MAX_EVICTION_SECONDS, MAX_MIN_RUNTIME_SECONDS, Mode as WrittenMode,
    Preemption as WrittenPreemption, Reclaim as WrittenReclaim, ReclaimFrom as WrittenFrom,
};
use quotient_engine::snapshot::{
    Admission, EvictionPolicy, EvictionRules, GangPolicy, LastReplica, Mode, Preemption, Reclaim, ReclaimFrom,
};

use super::mistakes::Mistakes;

pub(super) fn reclaim(written: Option<&WrittenReclaim>, mistakes: &mut Mistakes) -> Reclaim {
    let Some(written) = written else { return Reclaim::default() };
    Reclaim {
        from: match written.from {
            WrittenFrom::Cluster => ReclaimFrom::Cluster,
            WrittenFrom::Subtree => ReclaimFrom::Subtree,
            WrittenFrom::None => ReclaimFrom::Nothing,
        },
        after_seconds: mistakes.whole(written.after_seconds, MAX_EVICTION_SECONDS, "reclaim.afterSeconds"),
    }
}

pub(super) fn eviction(written: Option<&Eviction>, mistakes: &mut Mistakes) -> EvictionRules {
    let Some(written) = written else { return EvictionRules::default() };
    let mut seconds = |value: Option<i32>, most, field| value.map(|value| mistakes.whole(value, most, field));
    EvictionRules {
        policy: written.policy.map(|policy| match policy {
            WrittenPolicy::Allowed => EvictionPolicy::Allowed,
            WrittenPolicy::Never => EvictionPolicy::Never,
        }),
        min_runtime_seconds: seconds(
            written.min_runtime_seconds,
            MAX_MIN_RUNTIME_SECONDS,
            "eviction.minRuntimeSeconds",
        ),
        last_replica: written.last_replica.map(|last| match last {
            WrittenLast::LastResort => LastReplica::LastResort,
            WrittenLast::Never => LastReplica::Never,
        }),
        gangs: written.gangs.map(|gangs| match gangs {
            WrittenGangs::WholeLast => GangPolicy::WholeLast,
            WrittenGangs::Never => GangPolicy::Never,
        }),
        max_grace_seconds: seconds(
            written.max_grace_seconds,
            MAX_EVICTION_SECONDS,
            "eviction.maxGraceSeconds",
        ),
        force_after_seconds: seconds(
            written.force_after_seconds,
            MAX_EVICTION_SECONDS,
            "eviction.forceAfterSeconds",
        ),
    }
}

pub(super) const fn mode(written: WrittenMode) -> Mode {
    match written {
        WrittenMode::Observe => Mode::Observe,
        WrittenMode::Quota => Mode::Quota,
        WrittenMode::Full => Mode::Full,
    }
}

pub(super) const fn admission(written: WrittenAdmission) -> Admission {
    match written {
        WrittenAdmission::Quota => Admission::Quota,
        WrittenAdmission::Gate => Admission::Gate,
    }
}

pub(super) const fn preemption(written: WrittenPreemption) -> Preemption {
    match written {
        WrittenPreemption::Never => Preemption::Never,
        WrittenPreemption::LowerPriority => Preemption::LowerPriority,
    }
}
