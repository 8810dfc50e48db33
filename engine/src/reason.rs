//! Why: one vocabulary for events, conditions, metrics labels and explanations.

use std::fmt;

/// Why a pod is evicted, a queue is short or a Queue has no share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Evicted: its queue holds more than it deserves and another is short of what it deserves.
    Reclaimed,
    /// Evicted: its queue uses more than it is allocated and the cluster, or the queue's limit, is exceeded.
    Overcommitted,

    /// Short: pods of other queues that hold its share are on their way out.
    WaitingForPreemption,
    /// Short: a lowered quota is written and not in force yet, so nothing may be evicted.
    WaitingForQuota,
    /// Short: what it lacks is held outside the fence that it may take from.
    Fenced,
    /// Short: no pod that may be evicted holds what is missing.
    NothingToEvict,

    /// No share: an older Queue governs the namespace.
    NamespaceTaken,
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
    /// The stable CamelCase name used in conditions, events, labels and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reclaimed => "Reclaimed",
            Self::Overcommitted => "Overcommitted",
            Self::WaitingForPreemption => "WaitingForPreemption",
            Self::WaitingForQuota => "WaitingForQuota",
            Self::Fenced => "Fenced",
            Self::NothingToEvict => "NothingToEvict",
            Self::NamespaceTaken => "NamespaceTaken",
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
