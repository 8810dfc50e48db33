//! What every queue's quota allows next, and what it is owed (S-PREEMPT §Preemption stage).
//!
//! One step of a level-triggered function, per queue and resource, with T the target and A what the quota allows:
//!
//! * case 01, A above T: the quota drops to T, and what no other queue needs is lent on top of that, or of what pods hold
//!   (`loans.rs`). What pods hold above T goes as soon as some unit of another queue needs it.
//! * case 02, A = T: nothing happens.
//! * case 03, A below T: the quota rises at no cost up to what the queue may occupy anyway, and above that by what is free,
//!   in whole units while units are known: first what was freed for it, then guarantees, then the lowest A/T.
//!
//! What is owed to a queue is free or being freed for it and not granted yet; no other queue gets it.

mod divisible;
mod loans;
mod raise;

pub(crate) use loans::Loans;

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::amounts::{Amount, Amounts, Resource};
use crate::cluster::Cluster;
use crate::leaf::Leaf;
use crate::shares::sums;
use crate::snapshot::GrantGate;
use crate::tree::{BranchId, BranchMap, Room};

/// What grants are made from.
#[derive(Clone, Copy)]
struct GrantInput<'a> {
    cluster: Cluster<'a>,
    targets: &'a BranchMap<Amounts>,
}

/// What is granted and owed; of `allocated` and `firm` parents have the sums of their children.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    /// What quotas allow: A.
    pub(crate) allocated: BranchMap<Amounts>,
    /// The part of A within the target; the rest is lent.
    pub(crate) firm: BranchMap<Amounts>,
    /// What is free or being freed for leaves and not granted yet.
    pub(crate) owed: BranchMap<Amounts>,
    /// What was owed before, is not granted, and is neither free nor leaves any more.
    pub(crate) lost: BranchMap<Amounts>,
    /// For the next decision, what was lent on which terms.
    pub(crate) loans: BranchMap<Loans>,
}

impl<'a> Deref for GrantInput<'a> {
    type Target = Cluster<'a>;

    fn deref(&self) -> &Cluster<'a> {
        &self.cluster
    }
}

impl GrantInput<'_> {
    /// What every leaf occupies once all that leave are gone and lowered quotas are in force, if `firm` is granted; of parents
    /// the sums.
    fn settled(&self, firm: &BranchMap<Amounts>) -> BranchMap<Amounts> {
        self.tree.sums(self.of_leaves(|leaf| firm[leaf.at].max(&leaf.staying)))
    }

    /// What is left of `all` beside `sums`.
    fn left(&self, all: &Amounts, sums: BranchMap<Amounts>) -> Room<'_> {
        Room::beside(self.tree, &all.of(self.resources), sums)
    }
}

/// What is granted next.
///
/// Keeps what queues may occupy by what was promised to them within what nodes offer, and within the limit of every queue above
/// them, wherever it was before: nothing grows but into what is free.
pub(crate) fn grants<'a>(cluster: Cluster<'a>, targets: &'a BranchMap<Amounts>) -> Grants {
    let (input, tree) = (&GrantInput { cluster, targets }, cluster.tree);
    let mut firm = cluster.leaves.map(|_, _| Amounts::new());
    for resource in cluster.resources {
        let at_no_cost = at_no_cost(input, resource);
        firm.values_mut().zip(at_no_cost.values()).for_each(|(firm, amount)| firm.set(resource, *amount));
    }
    let idle = loans::Idle::of(input);
    let mut loans = loans::Idle::lend(idle.clone(), input, &firm);
    let mut owed = cluster.of_leaves(|leaf| {
        // What was owed before, as far as that is still lacking.
        let lacks = targets[leaf.at].less(&firm[leaf.at].max(&leaf.staying));
        leaf.state.quota.as_ref().map(|quota| quota.owed.min(&lacks)).unwrap_or_default()
    });
    // No room is kept for what does not come any more: two queues would keep what is free from each other.
    let (promised, granted_before) = (owed.clone(), firm.clone());
    cut_to_what_comes(input, &firm, &mut owed);
    if cluster.snapshot.grant_gate == GrantGate::Allowed {
        raise::raise(input, &mut firm, &mut owed, &loans);
        // Queues that reached their targets by this raise are lent room, too.
        if firm != granted_before {
            loans = loans::Idle::lend(idle, input, &firm);
        }
    }
    let mut allocated = tree.branches.map(|at, _| firm[at].plus(&loans[at].lent));
    for resource in cluster.governed.iter().filter(|one| !cluster.resources.contains(one)) {
        for leaf in cluster.each_leaf() {
            let stands = leaf.granted(resource);
            allocated[leaf.at].set(resource, stands);
            firm[leaf.at].set(resource, stands);
        }
    }
    cut_to_what_comes(input, &firm, &mut owed);
    let lost =
        tree.branches.map(|at, _| promised[at].less(&firm[at].less(&granted_before[at])).less(&owed[at]));
    Grants { allocated: tree.sums(allocated), firm: tree.sums(firm), owed, lost, loans }
}

/// How far every leaf may be raised toward its target at no cost: what it was granted, and what it may occupy anyway by
/// its pods and by earlier grants as far as there is room for that beside what all others may occupy.
///
/// Where not all of it fits, some queue holds more than was granted, or seems to: others may have what this one had before,
/// and pods that are seen may be long gone.
fn at_no_cost(input: &GrantInput<'_>, resource: &Resource) -> BranchMap<Amount> {
    let tree = input.tree;
    let hold = input.of_leaves(|leaf| leaf.hold(resource));
    let offered = match input.snapshot.grant_gate {
        GrantGate::Allowed => input.offered.get(resource),
        GrantGate::Held => Amount::ZERO,
    };
    let below = sums(tree, hold.clone());
    let all: Amount = tree.roots.iter().map(|root| below[*root]).sum();
    let beside_others = |at: BranchId| {
        let left = |all: Amount, bound: Amount| bound.less(all - hold[at]);
        let above = tree.path_up(at).skip(1);
        let limits = above.map(|(index, branch)| left(below[index], branch.limit(resource)));
        limits.fold(left(all, offered), Amount::min)
    };
    input.of_leaves(|leaf| {
        let costless = leaf.granted(resource).max(leaf.own_hold(resource).min(beside_others(leaf.at)));
        costless.min(input.targets[leaf.at].get(resource))
    })
}

/// Cuts what is `owed` to what is free, or will be once all that leave are gone and all lowered quotas are in force, below
/// every limit and everywhere: what a refused eviction or a lost ledger leaves of it.
fn cut_to_what_comes(input: &GrantInput<'_>, firm: &BranchMap<Amounts>, owed: &mut BranchMap<Amounts>) {
    if owed.values().all(Amounts::is_empty) {
        return;
    }
    let mut coming = input.left(input.capacity, input.settled(firm));
    for Leaf { at, .. } in input.each_leaf() {
        let owed = &mut owed[*at];
        *owed = coming.within_limits(*at, owed.min(&coming.everywhere.less(&Amounts::new())));
        coming.take(*at, owed);
    }
}

/// Cuts what is `owed` to what nodes offer beside what is granted. No quota grows into more than that: a node may seem to run
/// more because a pod that is gone is still seen.
pub(crate) fn cut_to_what_nodes_offer(
    cluster: Cluster<'_>,
    firm: &BranchMap<Amounts>,
    owed: &mut BTreeMap<BranchId, Amounts>,
) {
    let mut left = cluster.tree.left(&cluster.offered.of(cluster.resources), firm);
    for owed in owed.values_mut() {
        *owed = owed.min(&left.less(&Amounts::new()));
        left.subtract_all(owed);
    }
}

/// `allocated`, and of every leaf that `keeps` at least what its quota allows already, or what is charged where it has none.
///
/// No other queue is given anything for it: what stands is part of every hold anyway.
pub(crate) fn nothing_lowered(
    cluster: Cluster<'_>,
    allocated: &BranchMap<Amounts>,
    keeps: impl Fn(BranchId) -> bool,
) -> BranchMap<Amounts> {
    cluster.tree.sums(cluster.of_leaves(|leaf| {
        let allocated = &allocated[leaf.at];
        let most = |one: &Resource| (one.clone(), allocated.get(one).max(leaf.granted(one)));
        if keeps(leaf.at) { cluster.governed.iter().map(most).collect() } else { allocated.clone() }
    }))
}
