//! Targets: deserved shares made whole, so that no part of a pod is reclaimed for.
//!
//! ```text
//!  deserved ──► units within it, those that run first ──► the rest of the capacity, unit by unit, to the lowest ──► target
//!               and what is claimed without pods           target per weight whose next unit fits
//! ```
//!
//! Fractions of a pod are worth nothing: 4.5 and 4.5 cpu run eight pods of one cpu where nine fit. Targets stay as they are
//! until something changes from outside: own evictions change neither what is deserved nor which units are wanted, and so
//! not the stamp.

mod damped;
mod rest;
mod stamp;

use std::sync::Arc;

use damped::damped;
use rest::hand_out_rest;
use stamp::{Stamp, newest_bare_pod};

use crate::amounts::{Amounts, Resource};
use crate::leaf::{Leaf, Unit};
use crate::ledger::Targets;
use crate::shares::Shares;
use crate::snapshot::Snapshot;
use crate::tree::{Branch, Tree};

/// The targets of leaves, and what has to be kept of them.
pub(crate) struct Decided {
    /// An entry a branch; nothing for parents.
    pub(crate) targets: Vec<Amounts>,
    /// For the ledger; none where every target is the deserved share.
    pub(crate) kept: Option<Arc<Targets>>,
}

/// The target of one leaf in the making.
pub(super) struct Making {
    /// Its units, first to be kept first; those that have their place are taken out.
    pub(super) left: Vec<Unit>,
    /// What its units that have their place request.
    pub(super) fitted: Amounts,
    /// What it has beside its units: demand that no known pod shows.
    pub(super) claimed: Amounts,
    /// What it has at least.
    pub(super) floor: Amounts,
    /// What it asks for in all: units that get room from the rest show more of what is claimed.
    pub(super) demand: Amounts,
    /// Whether it may have more than it deserves.
    pub(super) receives: bool,
}

impl Making {
    pub(super) fn target(&self) -> Amounts {
        self.target_with(&self.fitted)
    }

    /// Its target if the units that have their place request `fitted`.
    pub(super) fn target_with(&self, fitted: &Amounts) -> Amounts {
        fitted.plus(&self.claimed).min(&self.demand.max(fitted)).max(&self.floor)
    }
}

/// The targets of `leaves`, which deserve `shares`: those that the ledger holds, unless something has changed from outside.
pub(crate) fn targets<'a>(
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'a>>],
    shares: &[Shares],
    snapshot: &'a Snapshot,
    capacity: &Amounts,
    resources: &[Resource],
) -> Decided {
    let mut decided = whole(tree, leaves, shares, snapshot, capacity, resources);
    for (target, leaf) in decided.targets.iter_mut().zip(leaves) {
        if let Some(leaf) = leaf {
            *target = damped(leaf, std::mem::take(target), resources);
        }
    }
    decided
}

fn whole<'a>(
    tree: &Tree<'_>,
    leaves: &[Option<Leaf<'a>>],
    shares: &[Shares],
    snapshot: &'a Snapshot,
    capacity: &Amounts,
    resources: &[Resource],
) -> Decided {
    let deserved: Vec<Amounts> = (leaves.iter().zip(shares))
        .map(|(leaf, shares)| leaf.as_ref().map(|_| shares.deserved.clone()).unwrap_or_default())
        .collect();
    // Where all that is shown fits, so does every unit.
    let is_short = |leaf: &Leaf<'_>, deserved: &Amounts| {
        resources.iter().any(|one| leaf.demand.shown.get(one).max(leaf.staying.get(one)) > deserved.get(one))
    };
    let short: Vec<Option<&Leaf<'a>>> = (leaves.iter().zip(&deserved))
        .map(|(leaf, deserved)| leaf.as_ref().filter(|leaf| is_short(leaf, deserved)))
        .collect();
    let is_enough = short.iter().all(Option::is_none);
    if is_enough && snapshot.targets.is_none() {
        return Decided { targets: deserved, kept: None };
    }
    let stamp = Stamp::of(tree, leaves, &deserved, capacity);
    let newest = newest_bare_pod(leaves);
    if let Some(kept) = snapshot.targets.as_ref().filter(|kept| kept.stamp == stamp && newest <= kept.newest)
    {
        let target = |(branch, deserved): (&Branch<'_>, Amounts)| {
            kept.of.get(&branch.name.namespace).filter(|_| branch.is_leaf()).cloned().unwrap_or(deserved)
        };
        let targets = tree.branches.iter().zip(deserved).map(target).collect();
        return Decided { targets, kept: Some(Arc::clone(kept)) };
    }
    if is_enough {
        return Decided { targets: deserved, kept: None };
    }
    let mut making: Vec<Option<Making>> = (short.iter().zip(shares))
        .map(|(leaf, shares)| leaf.map(|leaf| begin(leaf, shares, snapshot, capacity, resources)))
        .collect();
    let mut targets: Vec<Amounts> = (making.iter().zip(&deserved))
        .map(|(making, deserved)| making.as_ref().map_or_else(|| deserved.clone(), Making::target))
        .collect();
    hand_out_rest(tree, &mut making, &mut targets, capacity, resources);
    let of = (tree.branches.iter().zip(targets.iter().zip(&deserved)))
        .filter(|(branch, (target, deserved))| branch.is_leaf() && target != deserved)
        .map(|(branch, (target, _))| (branch.name.namespace.clone(), target.clone()));
    let kept = Targets { stamp, newest, of: of.collect() };
    Decided { targets, kept: Some(Arc::new(kept)) }
}

/// The target of a leaf within what it deserves.
fn begin<'a>(
    leaf: &Leaf<'a>,
    shares: &Shares,
    snapshot: &'a Snapshot,
    capacity: &Amounts,
    resources: &[Resource],
) -> Making {
    let deserved = &shares.deserved;
    let mut left = leaf.units(deserved, snapshot, capacity, resources);
    let mut fitted = Amounts::new();
    for unit in &mut left {
        let fits = unit.requests.times_in(&deserved.less(&fitted), unit.count.into());
        fitted.add_all(&unit.requests.times(fits));
        unit.count = unit.count.saturating_sub(u32::try_from(fits).unwrap_or(u32::MAX));
    }
    left.retain(|unit| unit.count > 0);
    // A claim comes in no units as far as no units show it that lack room for it, nor does demand that fell a moment ago.
    let room = deserved.less(&fitted);
    let (mut filled, mut possible) = (fitted.clone(), fitted.clone());
    for unit in &left {
        let limit = |one: &Resource| leaf.queue.limit.get(one);
        let bounded = unit.requests.iter().filter(|(one, _)| limit(one).is_some());
        let bounded: Amounts = bounded.map(|(one, amount)| (one.clone(), amount)).collect();
        let below_limit = bounded
            .resources()
            .map(|one| (one.clone(), limit(one).unwrap_or_default().less(filled.get(one))))
            .collect();
        let count = bounded.times_in(&below_limit, unit.count.into());
        filled.add_all(&unit.requests.times(count));
        let lacks = unit.requests.iter().filter(|(one, amount)| *amount > room.get(one));
        let lacks: Amounts = lacks.map(|(one, amount)| (one.clone(), amount)).collect();
        possible.add_all(&lacks.times(count));
    }
    let request = leaf.queue.request.amounts();
    let fell = shares.demand.less(&leaf.demand.shown.max(&request));
    let claimed = request.min(&shares.demand).less(&possible).max(&fell).min(&room);
    let held =
        if leaf.never_evicted { leaf.namespace_usage.all_staying().of(resources) } else { Amounts::new() };
    let floor = leaf.queue.guaranteed.amounts().max(&held).min(deserved);
    Making { left, fitted, claimed, floor, demand: shares.demand.clone(), receives: !leaf.never_evicted }
}
