//! Whole trees, top down.

use std::collections::BTreeMap;

use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::shares::Claim;

use super::singly;
use crate::forest::{Branch, Forest, in_order};

/// What every queue of `forest` deserves of `resource`.
pub(crate) fn deserved(forest: &Forest, resource: &Resource) -> BTreeMap<QueueName, i128> {
    let mut all = BTreeMap::new();
    let capacity = forest.capacity(resource);
    descend(&forest.roots, capacity, resource, capacity, &mut all);
    all
}

fn descend(
    siblings: &[Branch],
    available: i128,
    resource: &Resource,
    capacity: i128,
    all: &mut BTreeMap<QueueName, i128>,
) {
    let siblings = in_order(siblings);
    let claims: Vec<Claim> = siblings
        .iter()
        .map(|branch| Claim {
            demand: Amount::new(branch.demand(resource, capacity)),
            guaranteed: Amount::new(branch.floor(resource, capacity)),
            weight: branch.queue.weight,
            ..Claim::default()
        })
        .collect();
    for (branch, share) in siblings.iter().zip(singly::divide(available, &claims, resource.quantum())) {
        descend(&branch.children, share, resource, capacity, all);
        all.insert(branch.name.clone(), share);
    }
}
