//! Damping: a share that moved by next to nothing moves no quota.
//!
//! While what a queue deserves and what its quota allows are closer than 1 % and than its next unit, the quota
//! stays: the difference is neither free nor promised. It is given back as soon as the sum would exceed what there
//! is, most unused first.

use super::Holder;
use crate::amounts::{Amount, Amounts, Resource};
use crate::shares::{get, sums};
use crate::tree::{Branch, Index, Tree};

/// The difference has to be less than one part in this many.
const ONE_IN: i128 = 100;

/// What is known of the units of a leaf, of one resource.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Next {
    /// The least that its next unit needs, if that is known.
    pub(crate) unit: Option<Amount>,
    /// What its pods request and its owners lack.
    pub(crate) wanted: Amount,
}

/// What quotas are to be brought to: the deserved amounts, or what they allow already.
///
/// `idle` is what quotas may allow above that; `next` says what is known of a leaf's units. Limits, guarantees and
/// shares of nothing are not damped, and what pods wait for is not next to nothing. One entry a branch.
pub(crate) fn damped(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    deserved: &[Amounts],
    idle: &[Amounts],
    next: &dyn Fn(Index, &Resource) -> Next,
    capacity: &Amounts,
    resources: &[Resource],
) -> Vec<Amounts> {
    let mut aims = deserved.to_vec();
    for resource in resources {
        let amounts =
            |list: &[Amounts]| -> Vec<Amount> { list.iter().map(|amounts| amounts.get(resource)).collect() };
        let (deserved, idle) = (amounts(deserved), amounts(idle));
        let mut aim = deserved.clone();
        for (at, holder) in holders.iter().enumerate() {
            let deserved = get(&deserved, at);
            let written = holder.and_then(|holder| stays(tree, &holder, at, deserved, resource));
            let Some(written) = written.filter(|_| get(&idle, at).is_zero()) else { continue };
            let next = next(at, resource);
            let difference = written.max(deserved) - written.min(deserved);
            let waits = written < deserved && next.wanted > written;
            if !waits && next.unit.is_none_or(|unit| difference < unit) {
                set(&mut aim, at, written);
            }
        }
        if aim == deserved {
            continue;
        }
        give_back(tree, holders, &deserved, &idle, &mut aim, capacity.get(resource), resource);
        for (amounts, aim) in aims.iter_mut().zip(&aim) {
            amounts.set(resource, *aim);
        }
    }
    aims
}

/// What the quota of a leaf allows, if that is so close to what it deserves that it need not move.
fn stays(
    tree: &Tree<'_>,
    holder: &Holder<'_>,
    at: Index,
    deserved: Amount,
    resource: &Resource,
) -> Option<Amount> {
    let branch = tree.branches.get(at)?;
    let written = holder.written(resource)?;
    let difference = (written.max(deserved) - written.min(deserved)).units();
    let is_little = difference > 0 && difference.saturating_mul(ONE_IN) < deserved.units();
    let guaranteed = branch.queue.guaranteed.get(resource).unwrap_or_default().min(deserved);
    // Below what is charged a raise costs nothing.
    let is_enough = written >= guaranteed.max(holder.headcount.charged.get(resource).min(deserved));
    (is_little && is_enough && written <= branch.limit(resource)).then_some(written)
}

/// Brings leaves that keep more than they deserve down to that, most unused first, until everything fits below every
/// limit and into the capacity.
fn give_back(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    deserved: &[Amount],
    idle: &[Amount],
    aim: &mut [Amount],
    capacity: Amount,
    resource: &Resource,
) {
    let charged = |at: Index| -> Amount {
        let holder = holders.get(at).copied().flatten();
        holder.map(|holder| holder.headcount.charged.get(resource)).unwrap_or_default()
    };
    let mut generous: Vec<Index> = (0..aim.len())
        .filter(|at| holders.get(*at).is_some_and(Option::is_some) && get(aim, *at) > get(deserved, *at))
        .collect();
    generous.sort_by_key(|at| (charged(*at) - get(aim, *at), *at));
    let leaf = |at: Index| tree.branches.get(at).is_some_and(Branch::is_leaf);
    let limits = (0..aim.len()).rev().filter(|at| !leaf(*at)).map(Some);
    for top in limits.chain([None]) {
        let bound = top.map_or(capacity, |top| {
            tree.branches.get(top).map_or(Amount::MAX, |branch| branch.limit(resource))
        });
        if bound == Amount::MAX {
            continue;
        }
        let occupied: Vec<Amount> = (0..aim.len())
            .map(|at| if leaf(at) { (get(aim, at) + get(idle, at)).max(charged(at)) } else { Amount::ZERO })
            .collect();
        let occupied = sums(tree, occupied);
        let all = top.map_or_else(
            || tree.roots.iter().map(|root| get(&occupied, *root)).sum(),
            |top| get(&occupied, top),
        );
        let mut excess = all.less(bound);
        for at in &generous {
            if excess.is_zero() {
                break;
            }
            let inside = top.is_none_or(|top| tree.path_up(*at).any(|(index, _)| index == top));
            if inside && get(aim, *at) > get(deserved, *at) {
                excess = excess.less(get(aim, *at) - get(deserved, *at));
                set(aim, *at, get(deserved, *at));
            }
        }
    }
}

fn set(amounts: &mut [Amount], at: Index, amount: Amount) {
    if let Some(entry) = amounts.get_mut(at) {
        *entry = amount;
    }
}
