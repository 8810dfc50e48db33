//! Which queues give, furthest above their share first.

use std::cmp::Ordering;

use super::Party;
use super::balance::Balance;
use crate::amounts::{Amounts, Resource};
use crate::tree::Index;

/// The leaves that hold more than their share and may be taken from, furthest above it first.
///
/// "Furthest" is the largest part of the capacity that it holds too much, per weight; ties by path.
pub(super) fn sources(
    parties: &[Option<Party<'_>>],
    balance: &Balance,
    resources: &[&Resource],
    capacity: &Amounts,
) -> Vec<Index> {
    let mut sources: Vec<(Excess, Index)> = parties
        .iter()
        .enumerate()
        .filter_map(|(at, party)| Some((at, party.as_ref()?)))
        .filter(|(_, party)| !party.spared)
        .filter_map(|(at, party)| {
            let weight = i128::from(party.queue.weight.max(1));
            let over = balance.overuse.get(at)?;
            let excess = resources.iter().map(|resource| Excess {
                over: over.get(resource).max(party.above_limit(resource)).units(),
                of: capacity.get(resource).units().saturating_mul(weight),
            });
            Some((excess.max()?, at))
        })
        .filter(|(excess, _)| excess.over > 0)
        .collect();
    sources.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    sources.into_iter().map(|(_, at)| at).collect()
}

/// How far above its share a queue is, as a fraction.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Excess {
    over: i128,
    of: i128,
}

impl Ord for Excess {
    fn cmp(&self, other: &Self) -> Ordering {
        self.over.saturating_mul(other.of).cmp(&other.over.saturating_mul(self.of))
    }
}

impl PartialOrd for Excess {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
