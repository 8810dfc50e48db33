//! Raising what comes in no units: claims without pods, and guarantees.

use std::collections::BTreeMap;

use super::raise::{Free, Lacking};
use crate::amounts::{Amount, Amounts, Resource};
use crate::shares::{WaterFilling, sums, sums_within};
use crate::tree::BranchId;

/// Raises leaves by what they are lacking beside their units: first as far as it is owed to them, then as far as guarantees go,
/// inner ones before those around them, then all, the lowest A/T first.
pub(super) fn raise_divisible(free: &mut Free<'_, '_>, lacking: &BTreeMap<BranchId, Lacking>) {
    let part = |(at, lacking): (&BranchId, &Lacking)| {
        (*at, lacking.divisible.min(&free.input.targets[*at].less(&free.firm[*at])))
    };
    let parts = lacking.iter().map(part).filter(|(_, part)| !part.is_empty());
    let parts: Vec<(BranchId, Amounts)> = parts.collect();
    for (at, part) in &parts {
        let more = part.min(&free.owed[*at]).min(&free.available(*at));
        free.grant(*at, &more);
    }
    let most = parts.iter().map(|(at, _)| free.unmet_guarantees(*at)).max().unwrap_or_default();
    for depth in (0..=most).rev() {
        for resource in free.input.resources.iter().filter(|_| !parts.is_empty()) {
            pour(free, &parts, resource, depth);
        }
    }
}

/// Pours `resource` to what lacks it of a guarantee, at this `depth` of guarantees that are not met; at depth 0 to every leaf.
fn pour(free: &mut Free<'_, '_>, parts: &[(BranchId, Amounts)], resource: &Resource, depth: usize) {
    let input = *free.input;
    let tree = input.tree;
    let mut depths = tree.branches.map(|_, _| 0_usize);
    for (at, branch) in tree.branches.iter() {
        let above = branch.parent.map_or(0, |parent| depths[parent]);
        depths[at] = above.saturating_add(free.unmet(at, resource).is_positive().into());
    }
    let lacks = |at: BranchId| {
        Some(free.unmet(at, resource)).filter(|lacks| lacks.is_positive() && depths[at] == depth)
    };
    let of_guarantee =
        |at: BranchId| tree.path_up(at).find_map(|(above, _)| lacks(above)).unwrap_or_default();
    let mut most = tree.branches.map(|_, _| Amount::ZERO);
    for (at, part) in parts {
        // What was granted of it in this step is granted.
        let lacking = input.targets[*at].get(resource).less(free.firm[*at].get(resource));
        let served = if depth > 0 { of_guarantee(*at) } else { Amount::MAX };
        most[*at] = lacking.min(part.get(resource)).min(served).min(free.available(*at).get(resource));
    }
    if most.values().all(|amount| amount.is_zero()) {
        return;
    }
    let have = sums(tree, free.firm.map(|_, firm| firm.get(resource)));
    let room = sums_within(tree, most, |at| {
        let below = free.now.below(at, resource).map_or(Amount::MAX, Amount::or_zero);
        lacks(at).map_or(below, |lacks| below.min(lacks))
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
