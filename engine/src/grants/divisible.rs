//! Raising what comes in no units: claims without pods, and guarantees.

use std::collections::BTreeMap;

use super::raise::{Free, Lacking};
use crate::amounts::{Amount, Amounts};
use crate::shares::{WaterFilling, sums, sums_within};
use crate::tree::BranchId;

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
    for guaranteed in [true, false] {
        pour(free, &parts, guaranteed);
    }
}

fn pour(free: &mut Free<'_, '_>, parts: &[(BranchId, Amounts)], guaranteed: bool) {
    let input = *free.input;
    for resource in input.resources.iter().filter(|_| !parts.is_empty()) {
        let mut most = input.tree.branches.map(|_, _| Amount::ZERO);
        for (at, part) in parts {
            let firm = free.firm[*at].get(resource);
            // What was granted of it in this step is granted.
            let lacks = input.targets[*at].get(resource).less(firm).min(part.get(resource));
            let bound = input.leaf(*at).and_then(|leaf| leaf.queue.guaranteed.get(resource));
            let lacks = if guaranteed { lacks.min(bound.unwrap_or_default().less(firm)) } else { lacks };
            most[*at] = lacks.min(free.available(*at).get(resource));
        }
        if most.values().all(|amount| amount.is_zero()) {
            continue;
        }
        let have = sums(input.tree, free.firm.map(|_, firm| firm.get(resource)));
        let room = sums_within(input.tree, most, |at| {
            free.now.below(at, resource).map_or(Amount::MAX, Amount::or_zero)
        });
        let weight = input.targets.map(|_, target| {
            target.get(resource).units().checked_div(resource.quantum()).unwrap_or(0).max(1)
        });
        let filling = WaterFilling { tree: input.tree, resource, have: &have, weight: &weight, room: &room };
        let received = filling.out(free.unkept().get(resource));
        for (at, _) in parts {
            free.grant(*at, &[(resource.clone(), received[*at])].into_iter().collect());
        }
    }
}
