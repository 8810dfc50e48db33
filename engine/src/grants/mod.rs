//! What every queue's quota allows next, and what it is owed (S-PREEMPT §Preemption stage).
//!
//! One step of a level-triggered function, per queue and resource, with T the target and A what the quota allows:
//!
//! * case 01, A above T: the quota drops to T, and what no other queue needs is lent on top (`loans.rs`). What pods hold
//!   above T goes as soon as some unit of another queue needs it.
//! * case 02, A = T: nothing happens.
//! * case 03, A below T: the quota rises at no cost up to what the queue may occupy anyway, and above that by what is free,
//!   in whole units while units are known: first what was freed for it, then guarantees, then the lowest A/T.
//!
//! What is owed to a queue is free or being freed for it and not granted yet; no other queue gets it.

mod divisible;
mod holder;
mod loans;
mod raise;

use holder::Holder;
pub(crate) use loans::Loans;

use std::collections::BTreeMap;

use crate::amounts::{Amount, Amounts, Resource};
use crate::leaf::Leaf;
use crate::shares::{get, sums};
use crate::snapshot::{GrantGate, Snapshot};
use crate::tree::{Index, Tree};

/// What grants are made from; every list has an entry a branch.
#[derive(Clone, Copy)]
pub(crate) struct GrantInput<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) leaves: &'a [Option<Leaf<'a>>],
    pub(crate) targets: &'a [Amounts],
    pub(crate) capacity: &'a Amounts,
    /// The part of the capacity that nodes offer: what quotas may grow into.
    pub(crate) offered: &'a Amounts,
    /// The governed resources of which there is any. Of the others nothing shrinks: no capacity in sight is more often a
    /// blind operator than an empty cluster.
    pub(crate) resources: &'a [Resource],
}

/// What is granted and owed; every list has an entry a branch, parents the sums of their children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grants {
    /// What quotas allow: A.
    pub(crate) allocated: Vec<Amounts>,
    /// The part of A within the target; the rest is lent.
    pub(crate) firm: Vec<Amounts>,
    /// What is free or being freed for leaves and not granted yet.
    pub(crate) owed: Vec<Amounts>,
    /// What was owed before, is not granted, and is neither free nor leaves any more.
    pub(crate) lost: Vec<Amounts>,
    /// For the next decision, what was lent on which terms.
    pub(crate) loans: Vec<Loans>,
}

impl<'a> GrantInput<'a> {
    pub(crate) fn leaf(&self, at: Index) -> Option<&'a Leaf<'a>> {
        self.leaves.get(at).and_then(Option::as_ref)
    }

    fn holder(&self, at: Index) -> Option<Holder<'a>> {
        let leaf = self.leaf(at)?;
        Some(Holder { quota: leaf.state.quota.as_ref(), namespace_usage: leaf.namespace_usage })
    }

    fn target(&self, at: Index) -> &'a Amounts {
        static NOTHING: std::sync::LazyLock<Amounts> = std::sync::LazyLock::new(Amounts::new);
        self.targets.get(at).unwrap_or(&NOTHING)
    }

    /// The leaves, by their places.
    fn at_leaves(&self) -> impl Iterator<Item = Index> + use<'a> {
        let leaves = self.leaves;
        (0..leaves.len()).filter(move |at| leaves.get(*at).is_some_and(Option::is_some))
    }

    /// What every leaf occupies once all that leave are gone and lowered quotas are in force, if `firm` is granted.
    fn settled(&self, firm: &[Amounts]) -> Vec<Amounts> {
        let leaves = firm.iter().zip(self.leaves);
        leaves
            .map(|(firm, leaf)| leaf.as_ref().map(|leaf| firm.max(&leaf.staying)).unwrap_or_default())
            .collect()
    }

    /// What is left below the limit of every parent beside `sums`.
    fn slack(&self, sums: &[Amounts]) -> Vec<Amounts> {
        self.tree.slack(sums).iter().map(|slack| slack.less(&Amounts::new())).collect()
    }

    /// Of every leaf what `of` says of `resource`.
    fn of_leaves(&self, of: impl Fn(Index, Holder<'a>) -> Amount) -> Vec<Amount> {
        (0..self.leaves.len())
            .map(|at| self.holder(at).map(|holder| of(at, holder)).unwrap_or_default())
            .collect()
    }
}

/// What is granted next.
///
/// Keeps what queues may occupy by what was promised to them within `offered`, and within the limit of every queue above
/// them, wherever it was before: nothing grows but into what is free.
pub(crate) fn grants(input: &GrantInput<'_>, all_resources: &[Resource]) -> Grants {
    let (tree, length) = (input.tree, input.leaves.len());
    let mut firm = vec![Amounts::new(); length];
    for resource in input.resources {
        for (firm, amount) in firm.iter_mut().zip(at_no_cost(input, resource)) {
            firm.set(resource, amount);
        }
    }
    let idle = loans::Idle::of(input);
    let mut loans: Vec<Loans> = (0..length).map(|at| idle.loan(input, at, &firm)).collect();
    let mut owed: Vec<Amounts> = (0..length).map(|at| recorded(input, at, &firm)).collect();
    // No room is kept for what does not come any more: two queues would keep what is free from each other.
    let (promised, granted_before) = (owed.clone(), firm.clone());
    cut_to_what_comes(input, &firm, &mut owed);
    if input.snapshot.grant_gate == GrantGate::Allowed {
        raise::raise(input, &mut firm, &mut owed, &loans);
        // Queues that reached their targets by this raise are lent room, too.
        loans = (0..length).map(|at| idle.loan(input, at, &firm)).collect();
    }
    let mut allocated: Vec<Amounts> =
        (firm.iter().zip(&loans)).map(|(firm, loan)| firm.plus(&loan.lent)).collect();
    for resource in all_resources.iter().filter(|one| !input.resources.contains(one)) {
        for at in input.at_leaves() {
            let stands = input.holder(at).map(|holder| holder.allocated(resource)).unwrap_or_default();
            for list in [&mut allocated, &mut firm] {
                if let Some(entry) = list.get_mut(at) {
                    entry.set(resource, stands);
                }
            }
        }
    }
    cut_to_what_comes(input, &firm, &mut owed);
    let lost = |at: Index| {
        let of = |list: &[Amounts]| list.get(at).cloned().unwrap_or_default();
        of(&promised).less(&of(&firm).less(&of(&granted_before))).less(&of(&owed))
    };
    let lost = (0..length).map(lost).collect();
    Grants { allocated: tree.sums(allocated), firm: tree.sums(firm), owed, lost, loans }
}

/// What was owed to a leaf before, as far as it lacks that still.
fn recorded(input: &GrantInput<'_>, at: Index, firm: &[Amounts]) -> Amounts {
    let nothing = Amounts::new();
    let quota = input.holder(at).and_then(|holder| holder.quota);
    let staying = input.leaf(at).map_or(&nothing, |leaf| &leaf.staying);
    let lacks = input.target(at).less(&firm.get(at).unwrap_or(&nothing).max(staying));
    quota.map(|quota| quota.owed.min(&lacks)).unwrap_or_default()
}

/// How far every leaf may be raised towards its target at no cost: what it was granted, and what it may occupy anyway by
/// its pods and by earlier grants as far as there is room for that beside what all others may occupy.
///
/// Where not all of it fits, some queue holds more than was granted, or seems to: others may have what this one had before,
/// and pods that are seen may be long gone.
fn at_no_cost(input: &GrantInput<'_>, resource: &Resource) -> Vec<Amount> {
    let tree = input.tree;
    let hold = input.of_leaves(|_, holder| holder.hold(resource));
    let offered = match input.snapshot.grant_gate {
        GrantGate::Allowed => input.offered.get(resource),
        GrantGate::Held => Amount::ZERO,
    };
    let below = sums(tree, hold.clone());
    let all: Amount = tree.roots.iter().map(|root| get(&below, *root)).sum();
    let beside_others = |at: Index| {
        let left = |all: Amount, bound: Amount| bound.less(all - get(&hold, at));
        let above = tree.path_up(at).filter(|(index, _)| *index != at);
        let limits = above.map(|(index, branch)| left(get(&below, index), branch.limit(resource)));
        limits.fold(left(all, offered), Amount::min)
    };
    input.of_leaves(|at, holder| {
        let costless = holder.allocated(resource).max(holder.own_hold(resource).min(beside_others(at)));
        costless.min(input.target(at).get(resource))
    })
}

/// Cuts what is `owed` to what is free, or will be once all that leave are gone and all lowered quotas are in force, below
/// every limit and everywhere: what a refused eviction or a lost ledger leaves of it.
fn cut_to_what_comes(input: &GrantInput<'_>, firm: &[Amounts], owed: &mut [Amounts]) {
    if owed.iter().any(|owed| !owed.is_empty()) {
        let settled = input.tree.sums(input.settled(firm));
        let coming = input.tree.left(&input.capacity.of(input.resources), &settled);
        let owed = owed.iter_mut().enumerate().filter(|(_, owed)| !owed.is_empty());
        cut(input.tree, owed, coming, input.slack(&settled));
    }
}

/// Cuts what is `owed` to what nodes offer beside what is granted. No quota grows into more than that: a node may seem to run more
/// because a pod that is gone is still seen.
pub(crate) fn cut_to_what_nodes_offer(
    input: &GrantInput<'_>,
    firm: &[Amounts],
    owed: &mut BTreeMap<Index, Amounts>,
) {
    let offered = input.tree.left(&input.offered.of(input.resources), firm);
    cut(input.tree, owed.iter_mut().map(|(at, owed)| (*at, owed)), offered, Vec::new());
}

/// Cuts what is `owed` to what is `left`, and below parents to their `slack`, one leaf after the other.
fn cut<'o>(
    tree: &Tree<'_>,
    owed: impl Iterator<Item = (Index, &'o mut Amounts)>,
    mut left: Amounts,
    mut slack: Vec<Amounts>,
) {
    for (at, owed) in owed {
        *owed = owed.min(&left.less(&Amounts::new()));
        for (index, branch) in tree.path_up(at) {
            let Some(slack) = slack.get(index).filter(|_| !branch.is_leaf()) else { continue };
            for (one, _) in branch.queue.limit.iter() {
                owed.set(one, owed.get(one).min(slack.get(one)));
            }
        }
        left.subtract_all(owed);
        for (index, _) in tree.path_up(at) {
            slack.get_mut(index).into_iter().for_each(|slack| *slack = slack.less(owed));
        }
    }
}

/// `allocated`, and of every leaf that `keeps` at least what its quota allows already, or what is charged where it has none.
///
/// No other queue is given anything for it: what stands is part of every hold anyway.
pub(crate) fn nothing_lowered(
    input: &GrantInput<'_>,
    allocated: &[Amounts],
    resources: &[Resource],
    keeps: impl Fn(Index) -> bool,
) -> Vec<Amounts> {
    let of_leaf = |(at, allocated): (Index, &Amounts)| {
        let Some(holder) = input.holder(at) else { return Amounts::new() };
        if !keeps(at) {
            return allocated.clone();
        }
        let most = |one: &Resource| (one.clone(), allocated.get(one).max(holder.allocated(one)));
        resources.iter().map(most).collect()
    };
    input.tree.sums(allocated.iter().enumerate().map(of_leaf).collect())
}

/// Whether a leaf holds more than it will once its quota allows what is `allocated`.
pub(crate) fn falls(input: &GrantInput<'_>, at: Index, allocated: &Amounts, resources: &[Resource]) -> bool {
    let Some(holder) = input.holder(at) else { return false };
    resources
        .iter()
        .any(|one| holder.hold(one) > allocated.get(one).max(holder.namespace_usage.charged.get(one)))
}
