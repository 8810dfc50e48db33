//! A second, slower opinion on shares, which has nothing in common with the engine but the definition.
//!
//! * [`singly`]: whole quanta, one handed out after the other.
//! * [`descent`]: whole trees, each parent's share divided among its children.

pub(crate) mod descent;
pub(crate) mod singly;

use std::cmp::Ordering;

use quotient_engine::shares::Claim;

/// One claim, in units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingPods {
    pub(crate) held: i128,
    pub(crate) floor: i128,
    pub(crate) all: i128,
    pub(crate) weight: i128,
}

impl PendingPods {
    pub(crate) fn of(claim: &Claim) -> Self {
        let (held, demand) = (claim.held.units(), claim.demand.units());
        let all = held.max(demand);
        Self { held, floor: claim.guaranteed.units().min(all), all, weight: claim.weight.into() }
    }
}

/// What is served first, and up to where each goes in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// What cannot be taken from any queue.
    Held,
    /// Guarantees.
    Floors,
    /// The rest, measured from the floors.
    Rest,
}

impl Tier {
    pub(crate) const ALL: [Self; 3] = [Self::Held, Self::Floors, Self::Rest];

    /// What `pending` has when the tier begins, if everything before it was served.
    pub(crate) fn start(self, pending: &PendingPods) -> i128 {
        match self {
            Self::Held => 0,
            Self::Floors => pending.held,
            Self::Rest => pending.held.max(pending.floor),
        }
    }

    /// What it has when the tier ends.
    pub(crate) fn end(self, pending: &PendingPods) -> i128 {
        match self {
            Self::Held => pending.held,
            Self::Floors => pending.held.max(pending.floor),
            Self::Rest => pending.held.max(pending.floor).max(pending.all),
        }
    }

    /// From where its level is measured.
    pub(crate) fn ground(self, pending: &PendingPods) -> i128 {
        if self == Self::Rest { pending.floor } else { 0 }
    }

    /// How full `pending` is with `share` quanta; the weightless weigh the same among themselves.
    pub(crate) fn level(self, pending: &PendingPods, share: i128) -> Level {
        Level { quanta: share - self.ground(pending), weight: pending.weight.max(1) }
    }

    /// The tier in which `quanta` run out; the last one if they do not.
    pub(crate) fn of(quanta: i128, pending_pods: &[PendingPods]) -> Self {
        let ends = |tier: &Self| pending_pods.iter().map(|pending| tier.end(pending)).sum::<i128>() >= quanta;
        Self::ALL.into_iter().find(ends).unwrap_or(Self::Rest)
    }
}

/// Quanta by weight, compared as fractions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    quanta: i128,
    weight: i128,
}

impl Ord for Level {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.quanta * other.weight).cmp(&(other.quanta * self.weight))
    }
}

impl PartialOrd for Level {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Level {}

impl PartialEq for Level {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
