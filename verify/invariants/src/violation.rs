//! A promise, and how it was broken.

use std::fmt;

/// What Quotient promises about writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Invariant {
    /// Allocated and Preempting of all leaves fit into the capacity, once everything rests.
    Conserved,
    /// No write of the operator lets in more than fits beside what all others may occupy.
    NeverOverGranted,
    /// What is granted within targets and what is owed come to no more than there is, with every write of the ledger.
    PromisedOnce,
    /// Before a pod is evicted, the ledger owes what it holds to another queue.
    OwedFirst,
    /// Loans overlap by less than half of the capacity: all quotas together allow less than one and a half times of it.
    LoansBounded,
    /// No more is promised than the share has beyond what is allocated, once everything rests.
    SharesAddUp,
    /// The quota says what the status says, once everything rests.
    QuotaIsAllocated,
    /// A pod is evicted only while more live pods are there than the enforced quota allows: it cannot come back, and it
    /// was one too many.
    FencedAndNeeded,
    /// No eviction takes a queue below what it is guaranteed.
    GuaranteeKept,
    /// No pod is asked to go twice, unless an answer was lost or it has more grace than its queue allows.
    EvictedOnce,
    /// Every eviction is for one life of a pod: it carries the uid.
    EvictionNamesLife,
    /// Pods go through the Eviction API or by their owner's size alone, with their grace unless they are overdue and their
    /// queue wants them gone.
    Gentle,
    /// The operator writes its quotas, its statuses, events, the Lease and the ledger, one annotation on owners, with their
    /// size what remembers it, one annotation on pods, and nothing else.
    KeepsToItsOwn,
    /// In Gate mode no gate is removed above what the ledger grants.
    GatesWithinShare,
    /// In Gate mode no pod of a gang is let in while the gang lacks pods to its minimum, and no part of one stays let in.
    GangsWhole,
    /// No pod stays gated that has room in what the ledger grants, once everything rests.
    NothingWaitsWithRoom,
    /// A quota's stamp never goes back.
    GenerationsRise,
    /// No pod is evicted from or for a queue that is not in mode Full or is paused; no quota is written in mode Observe, and none
    /// restricts a paused queue more.
    Restrained,
    /// What the ledger grants is in the quota within 75 s.
    QuotasFollow,
    /// A queue that lacks some of its share has a reason in its conditions within 75 s.
    ReasonsFollow,
    /// What is owed is granted within four minutes, or the condition says what stands in the way.
    ReclaimsEnd,
    /// A gated pod that has room in what the ledger grants is let in within 75 s; within eleven minutes after a change of
    /// leaders.
    GatesOpen,
    /// No queue lacks what it deserves without a reason in its conditions, once everything rests.
    SharesArrive,
}

impl Invariant {
    /// Its name in `reference`-style lists: `I2`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Conserved => "I1",
            Self::NeverOverGranted => "I2",
            Self::PromisedOnce => "I29",
            Self::OwedFirst => "I30",
            Self::LoansBounded => "I31",
            Self::SharesAddUp => "I3",
            Self::QuotaIsAllocated => "I4",
            Self::FencedAndNeeded => "I5",
            Self::GuaranteeKept => "I11",
            Self::EvictedOnce => "I20",
            Self::EvictionNamesLife => "I20u",
            Self::Gentle => "I23",
            Self::KeepsToItsOwn => "I24",
            Self::GatesWithinShare => "I32",
            Self::GangsWhole => "I33",
            Self::NothingWaitsWithRoom => "L9",
            Self::GenerationsRise => "I27",
            Self::Restrained => "I28",
            Self::SharesArrive => "L7",
            Self::QuotasFollow => "L10",
            Self::ReasonsFollow => "L11",
            Self::ReclaimsEnd => "L12",
            Self::GatesOpen => "L13",
        }
    }
}

impl fmt::Display for Invariant {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {self:?}", self.id())
    }
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub invariant: Invariant,
    /// The write that broke it; none if it was found when everything rested.
    pub index: Option<u64>,
    /// When, in milliseconds.
    pub at: i64,
    /// What happened, with its numbers.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { invariant, index, at, message } = self;
        match index {
            Some(index) => write!(formatter, "{invariant} at {at} ms, write {index}: {message}"),
            None => write!(formatter, "{invariant} at rest, {at} ms: {message}"),
        }
    }
}
