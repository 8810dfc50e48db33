//! Raises made whole: what completes no unit of the queue that it went to completes one of another.

use super::one_resource::OneResource;
use crate::amounts::{Amount, Amounts, Resource};
use crate::demand::Stock;
use crate::shares::{Fraction, Parts, get, made_whole, sums};
use crate::tree::{Branch, Index, Tree};

/// Rearranges what was handed out of what is free so that more units are complete.
///
/// Queues below their guarantees, or below a parent that is, come first and lose nothing that they were raised
/// within them; then those that have the least of what they deserve. Queues behind a fence come last.
pub(super) fn make_whole<'u>(
    tree: &Tree<'_>,
    each: &mut [OneResource<'_>],
    deserved: &[Amounts],
    units: &dyn Fn(Index, &Amounts) -> Option<Stock<'u>>,
) {
    let length = tree.branches.len();
    let raised = |one: &OneResource<'_>, at: Index| get(&one.granted, at) > get(&one.before, at);
    let anything = (0..length).any(|at| each.iter().any(|one| raised(one, at)));
    let short = |one: &OneResource<'_>, at: Index| {
        deserved.get(at).is_some_and(|deserved| deserved.get(one.resource) > get(&one.granted, at))
    };
    let is_leaf = |at: Index| tree.branches.get(at).is_some_and(Branch::is_leaf);
    let anybody_short = (0..length).any(|at| is_leaf(at) && each.iter().any(|one| short(one, at)));
    if !anything || !anybody_short {
        return;
    }
    let resources: Vec<Resource> = each.iter().map(|one| one.resource.clone()).collect();
    let mut parts = Parts {
        have: vec![Amounts::new(); length],
        floor: vec![Amounts::new(); length],
        cap: vec![Amounts::new(); length],
    };
    let mut unguarded = vec![true; length];
    for one in each.iter() {
        let granted = sums(tree, one.granted.clone());
        let occupied = one.occupied();
        for (at, branch) in tree.branches.iter().enumerate() {
            let have = get(&granted, at);
            let guaranteed = one.guaranteed(at);
            let (floor, cap) = if branch.is_leaf() {
                let deserved = deserved.get(at).map(|deserved| deserved.get(one.resource));
                (get(&one.before, at).max(guaranteed.min(have)), deserved.unwrap_or_default().max(have))
            } else {
                let slack = branch.limit(one.resource).less(get(&occupied, at));
                (guaranteed.min(have), have + slack)
            };
            set(&mut parts.have, at, one.resource, have);
            set(&mut parts.floor, at, one.resource, floor);
            set(&mut parts.cap, at, one.resource, cap);
            let above = branch.parent.and_then(|parent| unguarded.get(parent).copied()).unwrap_or(true);
            if let Some(entry) = unguarded.get_mut(at) {
                *entry = *entry && above && have >= guaranteed;
            }
        }
    }
    let lists: Vec<Option<Stock<'_>>> = (0..length)
        .map(|at| parts.have.get(at).filter(|_| is_leaf(at)).and_then(|have| units(at, have)))
        .collect();
    let in_line = |at: Index, have: &dyn Fn(&Resource) -> Amount| {
        let part = |resource: &Resource| Fraction {
            part: have(resource).units(),
            whole: deserved.get(at).map_or(0, |deserved| deserved.get(resource).units()),
        };
        let least = resources.iter().map(part).filter(|fraction| fraction.whole > 0).min();
        (tree.fence_above(at).is_some(), unguarded.get(at).copied().unwrap_or(true), least)
    };
    let whole = made_whole(tree, &lists, &parts, &resources, &in_line);
    for one in each.iter_mut() {
        for (at, whole) in whole.iter().enumerate().filter(|(at, _)| is_leaf(*at)) {
            if let Some(entry) = one.granted.get_mut(at) {
                *entry = whole.get(one.resource);
            }
        }
    }
}

fn set(list: &mut [Amounts], at: Index, resource: &Resource, amount: Amount) {
    if let Some(entry) = list.get_mut(at) {
        entry.set(resource, amount);
    }
}
