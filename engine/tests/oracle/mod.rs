//! A second, slower opinion on shares, which has nothing in common with the engine but the definition.
//!
//! * [`singly`]: whole quanta, one handed out after the other.
//! * [`water`]: exact fractions, the level found by trying every point where a claim starts or ends.
//! * [`descent`]: whole trees, each parent's share divided among its children.

pub(crate) mod descent;
pub(crate) mod fraction;
pub(crate) mod singly;
pub(crate) mod water;

use fraction::Fraction;
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

    /// What `ask` has when the tier begins, if everything before it was served.
    pub(crate) fn start(self, ask: &PendingPods) -> i128 {
        match self {
            Self::Held => 0,
            Self::Floors => ask.held,
            Self::Rest => ask.held.max(ask.floor),
        }
    }

    /// What it has when the tier ends.
    pub(crate) fn end(self, ask: &PendingPods) -> i128 {
        match self {
            Self::Held => ask.held,
            Self::Floors => ask.held.max(ask.floor),
            Self::Rest => ask.held.max(ask.floor).max(ask.all),
        }
    }

    /// From where its level is measured.
    pub(crate) fn ground(self, ask: &PendingPods) -> i128 {
        if self == Self::Rest { ask.floor } else { 0 }
    }

    /// How full `ask` is with `share` quanta; the weightless weigh the same among themselves.
    pub(crate) fn level(self, ask: &PendingPods, share: i128) -> Fraction {
        Fraction::new(share - self.ground(ask), ask.weight.max(1))
    }

    /// The tier in which `quanta` run out; the last one if they do not.
    pub(crate) fn of(quanta: i128, asks: &[PendingPods]) -> Self {
        let ends = |tier: &Self| asks.iter().map(|ask| tier.end(ask)).sum::<i128>() >= quanta;
        Self::ALL.into_iter().find(ends).unwrap_or(Self::Rest)
    }
}
