//! Why: one vocabulary for events, conditions, metrics labels and explanations.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a pod is evicted, a queue is short or a Queue has no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Reason {
    /// Evicted: its queue holds more than it deserves and another is short of what it deserves.
    Reclaimed,
    /// Evicted: its queue uses more than it is allocated and the cluster, or the queue's limit, is exceeded.
    Overcommitted,
    /// Evicted: a pod within its queue's guarantee needs room on this node; the evicted pod's own queue keeps its
    /// share, so that it can start elsewhere.
    MovedAside,
    /// Evicted again: its grace is longer than its queue allows, and another queue needs its room.
    GraceShortened,
    /// Evicted again: it is past its deadline by more than its queue allows, so it gets no more grace.
    ForceDeleted,

    /// Short: pods of other queues that hold its share are on their way out.
    WaitingForPreemption,
    /// Short: a lowered quota is written and not in force yet, so nothing may be evicted.
    WaitingForQuota,
    /// Short: the ledger was lost, and not every quota has been written under the new one, so nothing may grow.
    WaitingForLedger,
    /// Short: what it lacks is held outside the fence that it may take from.
    Fenced,
    /// Short: no pod that may be evicted holds what is missing.
    NothingToEvict,
    /// Short: a disruption budget, or the API server for another reason, lets no pod go now.
    Blocked,
    /// Short: the mode of a queue or of the operator, or a pause, lets no pod go. Unmet: the same.
    EvictionsDisabled,
    /// Short: it has not been short for as long as it is to wait before pods go for it.
    Delayed,
    /// Short: what pods on their way out hold; all of them are long past their deadline.
    StuckTerminating,
    /// Short: much of the capacity is gone at one stroke, so nothing is taken until that is certain.
    CapacityUntrusted,
    /// Short: some part of the cluster has not been heard of for too long, so nothing is taken until it has.
    ViewStale,
    /// Short: no quota has been seen to take effect lately, so no pod is evicted that would come back.
    QuotaControllerSilent,

    /// Unmet: a pod is larger than the share that its queue can have now.
    UnitAboveShare,
    /// Unmet: the queue's share is in use by its other pods.
    ShareInUse,
    /// Unmet: a rolling update waits for room that the older pods of its Deployment hold, and keeps all of these until a
    /// new pod is available.
    RolloutNeedsRoom,
    /// Unmet: a limit on the queue's path would be exceeded.
    AboveLimit,
    /// Unmet: a foreign ResourceQuota of the namespace leaves no room.
    ForeignQuota,
    /// Unmet: there is room in the queue, and no node that the pod may run on has enough of it free.
    Fragmented,
    /// Unmet: no node at all could run the pod: its selector, its affinity, taints or its size.
    NoNodeFits,
    /// Unmet: the plan has looked at as many nodes for its queue as one plan may; others come first.
    PlanLimit,
    /// Unmet: waiting for the autoscaler to add a node.
    WaitingForNodes,
    /// Unmet: there is room; the pod or its owner only has to take it.
    RoomAvailable,
    /// Unmet: the API server refuses its pods, whatever room there is.
    PodsRejected,
    /// Unmet: there has been room for a minute, and the pods were not created.
    PodsNotCreated,
    /// Unmet: it had room and did not start, so it does not count for a while.
    SetAside,
    /// Unmet: a pod of its workload is not Ready yet, so no more of them count.
    OneAtATime,
    /// Unmet: its gang exists in part, and so does another one, whose pods use the room for the rest. Scaled down: its gang
    /// yields to the other one.
    GangIncomplete,

    /// Passed over: its queue's policy, or that of one above, is Disabled.
    PolicyDisabled,
    /// Passed over: a mirror of a static pod.
    MirrorPod,
    /// Passed over: its node does not count, so its room leaves with it.
    NodeNotCounted,
    /// Passed over: the last replica of its owner, and its queue says Never.
    LastReplica,
    /// Passed over: its gang needs it, and its queue says that gangs are never taken.
    GangFloor,
    /// Passed over: without it its queue, or one above, would be below what it is guaranteed. Short: only such pods
    /// hold what is missing.
    Guarantee,
    /// Passed over: a disruption budget allows no more.
    Budget,
    /// Passed over: the API server refused its eviction a short while ago.
    EvictionRefused,
    /// Passed over: its priority is above the ask's, and settings compare them.
    PriorityAboveAsk,

    /// Scaled down: pods of a higher priority in its queue lack room.
    Outranked,
    /// Scaled up: there is room for what was scaled down.
    Restored,
    /// Unmet: its owner was scaled down for other pods of its queue.
    GaveWay,
    /// Passed over: a `HorizontalPodAutoscaler` says how many pods its owner wants.
    Autoscaled,
    /// Passed over: its owner says that it is not to be scaled.
    OptedOut,
    /// Passed over: another writer changed the size of its workload after it was scaled down.
    SizeSetByAnother,
    /// Passed over: its Deployment is between two templates.
    RollingOut,
    /// Passed over: no workload is known that could be scaled down.
    NotScalable,

    /// No share: an older Queue governs the namespace.
    NamespaceTaken,
    /// No share: Kueue manages the pods of the namespace.
    ManagedByKueue,
    /// No share: its spec cannot be understood.
    InvalidSpec,
    /// No share: the queue that its `parentRef` names does not exist.
    ParentNotFound,
    /// No share: the queue that its `parentRef` names does not accept it.
    ParentNotAccepting,
    /// No share: following `parentRef` leads back to where it began.
    ParentCycle,
    /// No share: a queue above it has none.
    ParentStalled,
    /// No share: for some resource its guaranteed is above its limit.
    GuaranteedAboveLimit,
}

impl Reason {
    /// Every reason, in the order above.
    pub const ALL: [Self; 57] = [
        Self::Reclaimed,
        Self::Overcommitted,
        Self::MovedAside,
        Self::GraceShortened,
        Self::ForceDeleted,
        Self::WaitingForPreemption,
        Self::WaitingForQuota,
        Self::WaitingForLedger,
        Self::Fenced,
        Self::NothingToEvict,
        Self::Blocked,
        Self::EvictionsDisabled,
        Self::Delayed,
        Self::StuckTerminating,
        Self::CapacityUntrusted,
        Self::ViewStale,
        Self::QuotaControllerSilent,
        Self::UnitAboveShare,
        Self::ShareInUse,
        Self::RolloutNeedsRoom,
        Self::AboveLimit,
        Self::ForeignQuota,
        Self::Fragmented,
        Self::NoNodeFits,
        Self::PlanLimit,
        Self::WaitingForNodes,
        Self::RoomAvailable,
        Self::PodsRejected,
        Self::PodsNotCreated,
        Self::SetAside,
        Self::OneAtATime,
        Self::GangIncomplete,
        Self::PolicyDisabled,
        Self::MirrorPod,
        Self::NodeNotCounted,
        Self::LastReplica,
        Self::GangFloor,
        Self::Guarantee,
        Self::Budget,
        Self::EvictionRefused,
        Self::PriorityAboveAsk,
        Self::Outranked,
        Self::Restored,
        Self::GaveWay,
        Self::Autoscaled,
        Self::OptedOut,
        Self::SizeSetByAnother,
        Self::RollingOut,
        Self::NotScalable,
        Self::NamespaceTaken,
        Self::ManagedByKueue,
        Self::InvalidSpec,
        Self::ParentNotFound,
        Self::ParentNotAccepting,
        Self::ParentCycle,
        Self::ParentStalled,
        Self::GuaranteedAboveLimit,
    ];

    /// The stable CamelCase name used in conditions, events, labels and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reclaimed => "Reclaimed",
            Self::Overcommitted => "Overcommitted",
            Self::MovedAside => "MovedAside",
            Self::GraceShortened => "GraceShortened",
            Self::ForceDeleted => "ForceDeleted",
            Self::WaitingForPreemption => "WaitingForPreemption",
            Self::WaitingForQuota => "WaitingForQuota",
            Self::WaitingForLedger => "WaitingForLedger",
            Self::Fenced => "Fenced",
            Self::NothingToEvict => "NothingToEvict",
            Self::Blocked => "Blocked",
            Self::EvictionsDisabled => "EvictionsDisabled",
            Self::Delayed => "Delayed",
            Self::StuckTerminating => "StuckTerminating",
            Self::CapacityUntrusted => "CapacityUntrusted",
            Self::ViewStale => "ViewStale",
            Self::QuotaControllerSilent => "QuotaControllerSilent",
            Self::UnitAboveShare => "UnitAboveShare",
            Self::ShareInUse => "ShareInUse",
            Self::RolloutNeedsRoom => "RolloutNeedsRoom",
            Self::AboveLimit => "AboveLimit",
            Self::ForeignQuota => "ForeignQuota",
            Self::Fragmented => "Fragmented",
            Self::NoNodeFits => "NoNodeFits",
            Self::PlanLimit => "PlanLimit",
            Self::WaitingForNodes => "WaitingForNodes",
            Self::RoomAvailable => "RoomAvailable",
            Self::PodsRejected => "PodsRejected",
            Self::PodsNotCreated => "PodsNotCreated",
            Self::SetAside => "SetAside",
            Self::OneAtATime => "OneAtATime",
            Self::GangIncomplete => "GangIncomplete",
            Self::PolicyDisabled => "PolicyDisabled",
            Self::MirrorPod => "MirrorPod",
            Self::NodeNotCounted => "NodeNotCounted",
            Self::LastReplica => "LastReplica",
            Self::GangFloor => "GangFloor",
            Self::Guarantee => "Guarantee",
            Self::Budget => "Budget",
            Self::EvictionRefused => "EvictionRefused",
            Self::PriorityAboveAsk => "PriorityAboveAsk",
            Self::Outranked => "Outranked",
            Self::Restored => "Restored",
            Self::GaveWay => "GaveWay",
            Self::Autoscaled => "Autoscaled",
            Self::OptedOut => "OptedOut",
            Self::SizeSetByAnother => "SizeSetByAnother",
            Self::RollingOut => "RollingOut",
            Self::NotScalable => "NotScalable",
            Self::NamespaceTaken => "NamespaceTaken",
            Self::ManagedByKueue => "ManagedByKueue",
            Self::InvalidSpec => "InvalidSpec",
            Self::ParentNotFound => "ParentNotFound",
            Self::ParentNotAccepting => "ParentNotAccepting",
            Self::ParentCycle => "ParentCycle",
            Self::ParentStalled => "ParentStalled",
            Self::GuaranteedAboveLimit => "GuaranteedAboveLimit",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const SOURCE: &str = include_str!("reason.rs");
    const PAGE: &str = include_str!("../../docs/reference/reasons.md");

    #[test]
    fn all_is_every_reason_in_order() {
        assert!(Reason::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        // `name` is exhaustive, so the compiler keeps its list complete.
        assert_eq!(SOURCE.matches("=> \"").count(), Reason::ALL.len(), "a reason is missing from ALL");
    }

    #[test]
    fn the_reference_explains_every_reason_once() {
        let rows: Vec<Vec<&str>> = PAGE
            .lines()
            .filter_map(|line| line.strip_prefix("| `"))
            .map(|row| row.trim_end_matches(" |").split(" | ").collect())
            .collect();
        for reason in Reason::ALL {
            let start = format!("{reason}`");
            let explained: Vec<&Vec<&str>> = rows.iter().filter(|row| row[0] == start).collect();
            assert_eq!(
                explained.len(),
                1,
                "docs/reference/reasons.md has {reason} {} times",
                explained.len()
            );
            assert!(explained[0].len() == 3, "docs/reference/reasons.md: {:?}", explained[0]);
            assert!(explained[0].iter().all(|cell| !cell.trim().is_empty()), "{:?}", explained[0]);
        }
        // Those after the last heading belong to conditions without a decision.
        let decisions = PAGE.split("## States without a decision").next().unwrap_or_default();
        let named: BTreeSet<&str> =
            decisions.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
        let known: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.name()).collect();
        assert_eq!(named, known, "docs/reference/reasons.md explains a reason that does not exist");
    }
}
