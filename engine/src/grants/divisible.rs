//! Raising what comes in no units: claims without pods, and guarantees.

use std::collections::BTreeMap;

use super::raise::{Free, Lacking};
use crate::amounts::{Amount, Amounts, Resource};
use crate::shares::{WaterFilling, sums, sums_within};
use crate::tree::BranchId;

/// Which of it is served.
#[derive(Clone, Copy)]
enum Pass {
    /// What leaves lack of their own guarantees.
    Guarantees,
    /// What leaves lack below queues that lack a part of their guarantees.
    GuaranteesAbove,
    All,
}

/// Raises leaves by what they are lacking beside their units: first as far as it is owed to them, then as far as guarantees go,
/// then all, the lowest A/T first.
pub(super) fn raise_divisible(free: &mut Free<'_, '_>, lacking: &BTreeMap<BranchId, Lacking<'_>>) {
    let part = |(at, lacking): (&BranchId, &Lacking<'_>)| {
        (*at, lacking.divisible.min(&free.input.targets[*at].less(&free.firm[*at])))
    };
    let parts = lacking.iter().map(part).filter(|(_, part)| !part.is_empty());
    let parts: Vec<(BranchId, Amounts)> = parts.collect();
    for (at, part) in &parts {
        let more = part.min(&free.owed[*at]).min(&free.available(*at));
        free.grant(*at, &more);
    }
    for pass in [Pass::Guarantees, Pass::GuaranteesAbove, Pass::All] {
        for resource in free.input.resources.iter().filter(|_| !parts.is_empty()) {
            pour(free, &parts, resource, pass);
        }
    }
}

fn pour(free: &mut Free<'_, '_>, parts: &[(BranchId, Amounts)], resource: &Resource, pass: Pass) {
    let input = *free.input;
    let tree = input.tree;
    let unmet = |at: BranchId| free.unmet(at, resource);
    let is_above = |at: BranchId| tree.path_up(at).skip(1).any(|(above, _)| !unmet(above).is_zero());
    let mut most = tree.branches.map(|_, _| Amount::ZERO);
    for (at, part) in parts {
        // What was granted of it in this step is granted.
        let lacks = input.targets[*at].get(resource).less(free.firm[*at].get(resource));
        let served = match pass {
            Pass::Guarantees => unmet(*at),
            Pass::GuaranteesAbove if !is_above(*at) => Amount::ZERO,
            Pass::GuaranteesAbove | Pass::All => Amount::MAX,
        };
        most[*at] = lacks.min(part.get(resource)).min(served).min(free.available(*at).get(resource));
    }
    if most.values().all(|amount| amount.is_zero()) {
        return;
    }
    let have = sums(tree, free.firm.map(|_, firm| firm.get(resource)));
    let room = sums_within(tree, most, |at| {
        let below = free.now.below(at, resource).map_or(Amount::MAX, Amount::or_zero);
        let is_bound = matches!(pass, Pass::GuaranteesAbove) && !unmet(at).is_zero() && !is_above(at);
        if is_bound { below.min(unmet(at)) } else { below }
    });
    let weight = free
        .target_sums
        .map(|_, target| target.get(resource).units().checked_div(resource.quantum()).unwrap_or(0).max(1));
    let filling = WaterFilling { tree, resource, have: &have, weight: &weight, room: &room };
    let received = filling.out(free.unkept().get(resource));
    for (at, _) in parts {
        free.grant(*at, &[(resource.clone(), received[*at])].into_iter().collect());
    }
}
