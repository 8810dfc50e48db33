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

use std::collections::BTreeMap;
use std::sync::Arc;

use damped::damped;
use rest::{beside, hand_out_rest};
use stamp::{newest_bare_pod, stamp};

use crate::amounts::{Amounts, Resource};
use crate::cluster::Cluster;
use crate::leaf::{Backlog, IncompleteGangs, Leaf, PendingUnits};
use crate::names::Namespace;
use crate::shares::Shares;
use crate::snapshot::{KeptTarget, Targets};
use crate::time::Timestamp;
use crate::tree::BranchMap;

/// The targets of leaves, and what has to be kept of them.
pub(crate) struct Decided {
    /// Nothing for parents.
    pub(crate) targets: BranchMap<Amounts>,
    /// For the ledger; none where every target is the deserved share.
    pub(crate) kept: Option<Arc<Targets>>,
}

/// The target of one leaf in the making.
pub(super) struct Making {
    /// Its units that have no place yet, those that run before the others, first to be kept first.
    pub(super) backlog: Backlog,
    /// What its units that have their place request.
    pub(super) fitted: Amounts,
    /// What it has beside its units: demand that no known pod shows.
    pub(super) claimed: Amounts,
    /// What it has at least.
    pub(super) floor: Amounts,
    /// What it asks for in all: units that get room from the rest show more of what is claimed.
    pub(super) demand: Amounts,
}

impl Making {
    /// Whether units are left, or `running` ones.
    pub(super) fn has_left(&self, running: bool) -> bool {
        self.backlog.begins_with(|unit| unit.runs || !running)
    }

    pub(super) fn target(&self) -> Amounts {
        self.target_with(&self.fitted)
    }

    /// Its target if the units that have their place request `fitted`.
    pub(super) fn target_with(&self, fitted: &Amounts) -> Amounts {
        fitted.plus(&self.claimed).min(&self.demand.max(fitted)).max(&self.floor)
    }
}

/// The targets of leaves that deserve `shares`: those that the ledger holds, unless something has changed from outside.
pub(crate) fn targets(cluster: Cluster<'_>, shares: &BranchMap<Shares>) -> Decided {
    let mut decided = whole(cluster, shares);
    for leaf in cluster.each_leaf() {
        decided.targets[leaf.at] = damped(leaf, &decided.targets[leaf.at], cluster.governed);
    }
    decided
}

fn whole(cluster: Cluster<'_>, shares: &BranchMap<Shares>) -> Decided {
    let deserved = cluster.of_leaves(|leaf| shares[leaf.at].deserved.clone());
    // Where all that is shown fits, so does every unit.
    let is_short = |leaf: &Leaf<'_>, deserved: &Amounts| {
        let shown = |one: &Resource| leaf.demand.shown.get(one).max(leaf.staying.get(one));
        cluster.governed.iter().any(|one| shown(one) > deserved.get(one))
    };
    let is_enough = !cluster.each_leaf().any(|leaf| is_short(leaf, &deserved[leaf.at]));
    if is_enough && cluster.snapshot.targets.is_none() {
        return Decided { targets: deserved, kept: None };
    }
    let stamp = stamp(cluster, &deserved);
    let newest = newest_bare_pod(cluster);
    let kept = cluster.snapshot.targets.as_ref();
    if let Some(kept) = kept.filter(|kept| kept.stamp == stamp && newest <= kept.newest) {
        let mut targets = cluster.tree.branches.map(|at, branch| {
            let target = kept.of.get(&branch.name.namespace).filter(|_| branch.is_leaf());
            target.map_or(&deserved[at], |kept| &kept.target).clone()
        });
        let is_raised = raise_outgrown(cluster, shares, &kept.of, &mut targets);
        let kept = if is_raised {
            keep(cluster, &deserved, &targets, kept.stamp, kept.newest)
        } else {
            Arc::clone(kept)
        };
        return Decided { targets, kept: Some(kept) };
    }
    if is_enough {
        return Decided { targets: deserved, kept: None };
    }
    let mut making = cluster
        .of_leaves(|leaf| is_short(leaf, &deserved[leaf.at]).then(|| begin(cluster, leaf, &shares[leaf.at])));
    let mut targets =
        making.map(|at, making| making.as_ref().map_or_else(|| deserved[at].clone(), Making::target));
    hand_out_rest(cluster, &mut making, &mut targets);
    let kept = keep(cluster, &deserved, &targets, stamp, newest);
    Decided { targets, kept: Some(kept) }
}

/// What has to be kept of `targets`: those that are not what the leaf deserves.
fn keep(
    cluster: Cluster<'_>,
    deserved: &BranchMap<Amounts>,
    targets: &BranchMap<Amounts>,
    stamp: u64,
    newest: Option<Timestamp>,
) -> Arc<Targets> {
    let leaves = cluster.each_leaf().filter(|leaf| targets[leaf.at] != deserved[leaf.at]);
    let of = leaves.map(|leaf| {
        let shown = leaf.demand.shown.of(cluster.governed);
        (leaf.name.namespace.clone(), KeptTarget { target: targets[leaf.at].clone(), shown })
    });
    Arc::new(Targets { stamp, newest, of: of.collect() })
}

/// Raises the targets of leaves that have outgrown them as far as no other target shrinks for it. Whether it raised any.
fn raise_outgrown(
    cluster: Cluster<'_>,
    shares: &BranchMap<Shares>,
    kept: &BTreeMap<Namespace, KeptTarget>,
    targets: &mut BranchMap<Amounts>,
) -> bool {
    let has_outgrown = |leaf: &&Leaf<'_>| {
        let kept = kept.get(&leaf.name.namespace);
        kept.is_some_and(|kept| has_outgrown(leaf, kept, &shares[leaf.at].deserved))
    };
    let outgrown: Vec<&Leaf<'_>> = cluster.each_leaf().filter(has_outgrown).collect();
    if outgrown.is_empty() {
        return false;
    }
    let mut rest = beside(cluster, targets);
    let mut is_raised = false;
    for leaf in outgrown {
        let target = begin(cluster, leaf, &shares[leaf.at]).target();
        let more = target.less(&targets[leaf.at]);
        if !more.is_empty() && rest.fits(leaf.at, &more) {
            rest.take(leaf.at, &more);
            targets[leaf.at].add_all(&more);
            is_raised = true;
        }
    }
    is_raised
}

/// Whether a unit that the leaf lacks fits beside its pods in what it deserves, and not in its target: pods that no owner wants
/// have ended, and the stamp does not tell. While pods leave, they may go for another queue.
fn has_outgrown(leaf: &Leaf<'_>, kept: &KeptTarget, deserved: &Amounts) -> bool {
    if !leaf.namespace_usage.leaving.is_empty() || kept.shown.fits_in(&leaf.demand.shown) {
        return false;
    }
    let (mut room, mut within) = (deserved.less(&leaf.staying), kept.target.less(&leaf.staying));
    let fitting = PendingUnits::fit_all(&leaf.pending, &[], &mut room, &mut within);
    fitting.iter().any(|one| one.granted < one.units)
}

/// The target of a leaf within what it deserves.
fn begin<'a>(cluster: Cluster<'a>, leaf: &Leaf<'a>, shares: &Shares) -> Making {
    let deserved = &shares.deserved;
    let mut left = leaf.units(deserved, cluster.snapshot, cluster.capacity, cluster.governed);
    let (mut fitted, mut incomplete) = (Amounts::new(), IncompleteGangs::default());
    for unit in &mut left {
        let fitting = unit.requests.times_in(&deserved.less(&fitted), unit.count.into());
        let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
        let given = incomplete.given(unit.part.as_ref(), unit.count, fitting);
        fitted.add_all(&unit.requests.times(given));
        unit.count = unit.count.saturating_sub(given);
    }
    left.retain(|unit| unit.count > 0);
    // A claim comes in no units as far as no units show it that lack room for it, nor does demand that fell a moment ago.
    let room = deserved.less(&fitted);
    let (mut filled, mut possible) = (fitted.clone(), fitted.clone());
    for unit in &left {
        let bounded = unit.requests.only(|one, _| leaf.queue.limit.get(one).is_some());
        let below_limit = leaf.queue.limit.amounts().less(&filled);
        let count = bounded.times_in(&below_limit, unit.count.into());
        filled.add_all(&unit.requests.times(count));
        let lacks = unit.requests.only(|one, amount| amount > room.get(one));
        possible.add_all(&lacks.times(count));
    }
    let request = leaf.queue.request.amounts();
    let fell = shares.demand.less(&leaf.demand.shown.max(&request));
    let claimed = request.min(&shares.demand).less(&possible).max(&fell).min(&room);
    let held = leaf.wish().held.of(cluster.governed);
    let floor = leaf.queue.guaranteed.amounts().max(&held).min(deserved);
    left.sort_by_key(|unit| !unit.runs);
    Making { backlog: Backlog::of(left), fitted, claimed, floor, demand: shares.demand.clone() }
}
