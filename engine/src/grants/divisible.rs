//! Raising what comes in no units: claims without pods, and guarantees.

use super::raise::{Free, Lacking};
use crate::amounts::{Amount, Amounts};
use crate::shares::{Room, WaterFilling, sums};
use crate::tree::Index;

/// Raises the leaves at `short` by what their targets hold beside their units: first as far as it is owed to them, then as
/// far as guarantees go, then all, the lowest A/T first.
pub(super) fn raise_divisible(free: &mut Free<'_, '_>, short: &[Index], lacking: &[Lacking]) {
    let part = |(at, lacking): (&Index, &Lacking)| {
        let firm = free.firm.get(*at).cloned().unwrap_or_default();
        (*at, lacking.divisible.min(&free.input.target(*at).less(&firm)))
    };
    let parts: Vec<(Index, Amounts)> =
        short.iter().zip(lacking).map(part).filter(|(_, part)| !part.is_empty()).collect();
    if parts.is_empty() {
        return;
    }
    for (at, part) in &parts {
        let owed = free.owed.get(*at).cloned().unwrap_or_default();
        let more = part.min(&owed).min(&free.available(*at));
        free.grant(*at, &more);
    }
    for guaranteed in [true, false] {
        pour(free, &parts, guaranteed);
    }
}

fn pour(free: &mut Free<'_, '_>, parts: &[(Index, Amounts)], guaranteed: bool) {
    let input = *free.input;
    for resource in input.resources {
        let mut most = vec![Amount::ZERO; input.leaves.len()];
        for (at, part) in parts {
            let firm = free.firm.get(*at).map(|firm| firm.get(resource)).unwrap_or_default();
            // What was granted of it in this step is granted.
            let lacks = input.target(*at).get(resource).less(firm).min(part.get(resource));
            let bound =
                input.leaf(*at).and_then(|leaf| leaf.queue.guaranteed.get(resource)).unwrap_or_default();
            let lacks = if guaranteed { lacks.min(bound.less(firm)) } else { lacks };
            if let Some(entry) = most.get_mut(*at) {
                *entry = lacks.min(free.available(*at).get(resource));
            }
        }
        if most.iter().all(|amount| amount.is_zero()) {
            continue;
        }
        let firm: Vec<Amount> = free.firm.iter().map(|firm| firm.get(resource)).collect();
        let have = sums(input.tree, firm);
        let room = Room::within(input.tree, most, |at| free.slack(at, resource));
        let whole = |at: Index| {
            let target = input.target(at).get(resource).units();
            target.checked_div(resource.quantum()).unwrap_or(0).max(1)
        };
        let weight: Vec<i128> = (0..input.leaves.len()).map(whole).collect();
        let unkept = free.unkept().get(resource);
        let received =
            WaterFilling { tree: input.tree, resource, have: &have, weight: &weight }.out(unkept, &room);
        for (at, _) in parts {
            let amount = received.get(*at).copied().unwrap_or_default();
            if amount.is_positive() {
                free.grant(*at, &[(resource.clone(), amount)].into_iter().collect());
            }
        }
    }
}
