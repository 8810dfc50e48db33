//! Shares made whole: what completes no pod of one queue completes one of another.

use super::leaf::Leaf;
use crate::amounts::{Amount, Amounts, Resource};
use crate::shares::{Fraction, Parts, Shares, Wish, made_whole};
use crate::snapshot::Snapshot;
use crate::tree::{Index, Tree};

/// Makes the deserved amounts of `shares` whole.
///
/// First come pods that are there and would otherwise be evicted, then the lowest dominant share per weight. Nobody goes
/// below what it is guaranteed, nor below what cannot be taken, nor above what it asks for.
pub(super) fn make_whole<'a>(
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'a>>],
    wishes: &[Wish],
    shares: &mut [Shares],
    capacity: &Amounts,
    resources: &[Resource],
    snapshot: &'a Snapshot,
) {
    let ample = ample(leaves, shares, capacity, resources);
    let units: Vec<_> = (leaves.iter().zip(wishes).zip(&*shares))
        .map(|((leaf, wish), shares)| {
            let leaf = leaf.as_ref()?;
            let within_limit = |resource: &&Resource| {
                let limit = leaf.queue.limit.get(resource);
                limit.is_none_or(|limit| leaf.headcount.charged.get(resource) <= limit)
            };
            let ample = ample.iter().filter(within_limit).cloned().collect();
            leaf.units_beyond(&shares.deserved, &wish.held, ample, capacity, resources, snapshot)
        })
        .collect();
    if units.iter().all(Option::is_none) {
        return;
    }
    // For what there is nothing of nobody goes, whoever holds it.
    let offered: Vec<Resource> =
        resources.iter().filter(|resource| capacity.offers(resource)).cloned().collect();
    let floor = |at: Index, shares: &Shares| -> Amounts {
        let branch = tree.branches.get(at);
        let kept = |resource: &Resource| {
            let guaranteed =
                branch.and_then(|branch| branch.queue.guaranteed.get(resource)).unwrap_or_default();
            let held = wishes.get(at).map(|wish| wish.held.get(resource)).unwrap_or_default();
            (resource.clone(), guaranteed.max(held).min(shares.deserved.get(resource)))
        };
        resources.iter().map(kept).collect()
    };
    let parts = Parts {
        have: shares.iter().map(|shares| shares.deserved.clone()).collect(),
        floor: shares.iter().enumerate().map(|(at, shares)| floor(at, shares)).collect(),
        cap: shares.iter().map(|shares| shares.demand.max(&shares.deserved)).collect(),
    };
    let in_line = |at: Index, have: &dyn Fn(&Resource) -> Amount| {
        let weight = tree.branches.get(at).map_or(0, |branch| i128::from(branch.queue.weight));
        let part = |resource: &Resource| Fraction {
            part: have(resource).units(),
            whole: capacity.get(resource).units().saturating_mul(weight.max(1)),
        };
        (weight == 0, offered.iter().map(part).max())
    };
    let whole = made_whole(tree, &units, &parts, &offered, &in_line);
    for (shares, whole) in shares.iter_mut().zip(whole) {
        shares.deserved = whole;
    }
}

/// The resources of which nobody lacks anything, and that all could hold at once what they deserve and what they hold.
fn ample(
    leaves: &[Option<Leaf<'_>>],
    shares: &[Shares],
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Resource> {
    let is_ample = |resource: &&Resource| {
        let mut all = Amount::ZERO;
        for (leaf, shares) in leaves.iter().zip(shares) {
            let Some(leaf) = leaf else { continue };
            let deserved = shares.deserved.get(resource);
            if deserved < shares.demand.get(resource) {
                return false;
            }
            all += deserved.max(leaf.headcount.charged.get(resource));
        }
        all <= capacity.get(resource)
    };
    resources.iter().filter(is_ample).cloned().collect()
}
