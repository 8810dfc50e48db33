//! Evictions that a mode or a pause withholds, and the queues that wait because of that.

use std::collections::{BTreeMap, BTreeSet};

use crate::amounts::Amounts;
use crate::choice::{Context, EvictionSet, QueueState, ReclaimResult};
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::names::QueueName;
use crate::plan::{Eviction, Withheld};
use crate::reasons::ShortReason;
use crate::tree::{Branch, BranchMap, Tree};

/// What is decided and not carried out.
#[derive(Debug, Default)]
pub(super) struct WithheldEvictions {
    /// The evictions, in order.
    pub(super) evictions: Vec<Eviction>,
    /// What withholds them, by the queue that none of the other evictions is for.
    of: BTreeMap<QueueName, Withheld>,
    /// What withholds the first of them, or the first quota that would be lowered.
    first: Option<Withheld>,
}

impl WithheldEvictions {
    /// Takes them out of `reclaim`, and what they would free out of what is owed. With them go those that are of no use without
    /// them. A queue that one of them is for is owed only whole units.
    pub(super) fn take_out(
        context: Context<'_>,
        allocated: &BranchMap<Amounts>,
        reclaim: &mut ReclaimResult,
    ) -> Self {
        let mut withheld = Self::default();
        let tree = context.tree;
        if tree.branches.values().all(|branch| branch.reach.evicts()) {
            return withheld;
        }
        let mut others = Vec::new();
        for set in std::mem::take(&mut reclaim.sets) {
            let Some(cause) = set.evictions.iter().find_map(|eviction| cause(tree, eviction)) else {
                others.push(set);
                continue;
            };
            if let Some(beneficiary) = set.beneficiary() {
                withheld.of.entry(beneficiary.clone()).or_insert_with(|| cause.clone());
            }
            if let Some((_, owed)) = set.owed_to().and_then(|name| owed_to(name, context, reclaim)) {
                *owed = owed.less(&set.frees());
            }
            withheld.first.get_or_insert(cause);
            withheld.evictions.extend(set.evictions);
        }
        let (in_vain, others) = split(&withheld.of, others, context, reclaim);
        withheld.evictions.extend(in_vain.into_iter().flat_map(|set| set.evictions.into_iter().rev()));
        // What goes for pods that exist is of no use to those that the queue lacks.
        let served: BTreeSet<&QueueName> = others.iter().filter_map(EvictionSet::owed_to).collect();
        withheld.of.retain(|beneficiary, _| !served.contains(beneficiary));
        reclaim.sets = others;
        withheld.report_unmet(tree, reclaim);
        if withheld.first.is_none() {
            withheld.first = first_kept_quota(context.cluster, allocated);
        }
        withheld
    }

    /// Says of pods without a node, for whose queue no pod is evicted now, that their evictions are withheld.
    fn report_unmet(&self, tree: &Tree<'_>, reclaim: &mut ReclaimResult) {
        let served: BTreeSet<&QueueName> = reclaim.sets.iter().filter_map(EvictionSet::beneficiary).collect();
        let kept = self.evictions.iter().filter_map(|eviction| eviction.beneficiary.as_ref());
        let unserved = kept.filter(|beneficiary| !served.contains(beneficiary));
        for at in unserved.filter_map(|beneficiary| tree.leaves.get(&beneficiary.namespace)) {
            let unmet = reclaim.unmet.get_mut(at).into_iter().flatten();
            let waiting = unmet.filter(|unmet| unmet.reason == ShortReason::WaitingForPreemption);
            waiting.for_each(|unmet| unmet.reason = ShortReason::EvictionsDisabled);
        }
    }

    /// What withholds that which the queue of `branch` waits for, if it is starved for `reason` and something does.
    pub(super) fn cause(&self, branch: &Branch<'_>, reason: ShortReason) -> Option<Withheld> {
        let own = || branch.reach.withheld();
        let of_givers = || self.of.get(&branch.name).cloned();
        match reason {
            ShortReason::Blocked | ShortReason::Delayed => own(),
            ShortReason::WaitingForPreemption | ShortReason::WaitingForQuota => own().or_else(of_givers),
            ShortReason::StuckTerminating => of_givers(),
            ShortReason::NothingToEvict => {
                self.first.clone().map(|first| own().or_else(of_givers).unwrap_or(first))
            }
            _ => None,
        }
    }
}

/// The queue of this name, and what it is owed.
fn owed_to<'a, 'r>(
    name: &QueueName,
    context: Context<'a>,
    reclaim: &'r mut ReclaimResult,
) -> Option<(QueueState<'a>, &'r mut Amounts)> {
    let at = context.tree.leaves.get(&name.namespace)?;
    Some((context.queue_state(*at)?, reclaim.owed.get_mut(at)?))
}

/// Those of `sets` that are for `beneficiaries` and complete none of their units, the last ones first; and the others.
///
/// What queues are owed beside whole units is for others, which may need no more.
fn split(
    beneficiaries: &BTreeMap<QueueName, Withheld>,
    sets: Vec<EvictionSet>,
    context: Context<'_>,
    reclaim: &mut ReclaimResult,
) -> (Vec<EvictionSet>, Vec<EvictionSet>) {
    let mut all: BTreeMap<&QueueName, (Amounts, Amounts)> = BTreeMap::new();
    for beneficiary in beneficiaries.keys() {
        let Some((queue_state, owed)) = owed_to(beneficiary, context, reclaim) else { continue };
        let of_use = queue_state.of_use(owed);
        all.insert(beneficiary, (std::mem::replace(owed, of_use.clone()), of_use));
    }
    let is_in_vain = |set: &EvictionSet| {
        let Some((owed, of_use)) = set.owed_to().and_then(|name| all.get_mut(name)) else { return false };
        let rest = owed.less(&set.frees());
        let is_in_vain = of_use.fits_in(&rest);
        if is_in_vain {
            *owed = rest;
        }
        is_in_vain
    };
    let (in_vain, mut others): (Vec<_>, Vec<_>) = sets.into_iter().rev().partition(is_in_vain);
    others.reverse();
    (in_vain, others)
}

/// What withholds this eviction; none if nothing does.
fn cause(tree: &Tree<'_>, eviction: &Eviction) -> Option<Withheld> {
    let mut queues = std::iter::once(&eviction.queue).chain(&eviction.beneficiary);
    queues.find_map(|queue| tree.branches[*tree.leaves.get(&queue.namespace)?].reach.withheld())
}

/// What keeps the first quota that would be lowered as it is.
fn first_kept_quota(cluster: Cluster<'_>, allocated: &BranchMap<Amounts>) -> Option<Withheld> {
    let is_kept =
        |leaf: &&Leaf<'_>| !leaf.reach.lowers() && leaf.falls_to(&allocated[leaf.at], cluster.governed);
    cluster.each_leaf().find(is_kept)?.reach.withheld()
}
