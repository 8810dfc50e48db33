//! The grants of one resource in the making.

use super::{Aim, Holder};
use crate::amounts::{Amount, Resource};
use crate::shares::{Pour, Room, get, sums};
use crate::snapshot::Growth;
use crate::tree::{Index, Tree};

/// The grants of one resource in the making; every list has an entry a branch.
pub(super) struct OneResource<'a> {
    tree: &'a Tree<'a>,
    pub(super) resource: &'a Resource,
    /// What quotas may grow into, held or free.
    offered: Amount,
    hold: Vec<Amount>,
    deserved: Vec<Amount>,
    idle: Vec<Amount>,
    /// What leaves have without being raised.
    pub(super) before: Vec<Amount>,
    /// What leaves have been granted so far. Parents hold nothing themselves, so nothing is granted to them.
    pub(super) granted: Vec<Amount>,
}

impl<'a> OneResource<'a> {
    pub(super) fn new(
        tree: &'a Tree<'a>,
        holders: &[Option<Holder<'_>>],
        aim: Aim<'_>,
        resource: &'a Resource,
        offered: Amount,
    ) -> Self {
        let hold: Vec<Amount> = holders
            .iter()
            .map(|holder| holder.map(|holder| holder.hold(resource)).unwrap_or_default())
            .collect();
        let deserved: Vec<Amount> = aim.deserved.iter().map(|deserved| deserved.get(resource)).collect();
        let idle: Vec<Amount> = aim.idle.iter().map(|idle| idle.get(resource)).collect();
        // What is free is nobody's while nothing may grow.
        let offered = if aim.growth == Growth::Allowed { offered } else { Amount::ZERO };
        let costless = costless(tree, holders, &hold, resource, offered);
        let entitled = deserved.iter().zip(&idle).map(|(deserved, idle)| *deserved + *idle);
        let granted: Vec<Amount> =
            costless.into_iter().zip(entitled).map(|(costless, entitled)| costless.min(entitled)).collect();
        let before = granted.clone();
        Self { tree, resource, offered, hold, deserved, idle, before, granted }
    }

    /// Raises everybody towards what they deserve, guarantees first.
    ///
    /// Those in `last` come after all others.
    pub(super) fn raise_to_deserved(&mut self, last: &[bool]) {
        for turn in [false, true] {
            if !last.contains(&turn) {
                continue;
            }
            let served = |amount: Amount, at: Index| {
                if last.get(at) == Some(&turn) { amount } else { Amount::ZERO }
            };
            let target: Vec<Amount> =
                self.deserved.iter().enumerate().map(|(at, amount)| served(*amount, at)).collect();
            self.raise(&target, true);
            self.raise(&target, false);
        }
    }

    /// Raises everybody into what is free then towards their idle part.
    pub(super) fn raise_to_idle(&mut self) {
        if self.idle.iter().any(|idle| idle.is_positive()) {
            let target: Vec<Amount> =
                self.deserved.iter().zip(&self.idle).map(|(deserved, idle)| *deserved + *idle).collect();
            self.raise(&target, false);
        }
    }

    /// What is granted of leaves; of parents the sums of their children.
    pub(super) fn granted(self) -> Vec<Amount> {
        sums(self.tree, self.granted)
    }

    /// What is guaranteed to the branch at `at`, as far as it deserves that much.
    pub(super) fn guaranteed(&self, at: Index) -> Amount {
        let branch = self.tree.branches.get(at);
        let guaranteed = branch.and_then(|branch| branch.queue.guaranteed.get(self.resource));
        guaranteed.unwrap_or_default().min(get(&self.deserved, at))
    }

    /// What every branch occupies already, once what was granted so far is in force.
    pub(super) fn occupied(&self) -> Vec<Amount> {
        let of_leaves = self.hold.iter().zip(&self.granted).map(|(hold, granted)| *hold.max(granted));
        sums(self.tree, of_leaves.collect())
    }

    /// Raises leaves towards `target` out of what is free, the lowest granted/deserved first, level by level; with
    /// `guaranteed` only as far as guarantees go, a parent's own included.
    fn raise(&mut self, target: &[Amount], guaranteed: bool) {
        let occupied = self.occupied();
        let granted = sums(self.tree, self.granted.clone());
        let missing = |target: Amount, at: Index| target.less(get(&self.granted, at));
        let all: Vec<Amount> = target.iter().enumerate().map(|(at, target)| missing(*target, at)).collect();
        if all.iter().all(|amount| amount.is_zero()) {
            return;
        }
        // A leaf's own limit is in its deserved share already, and below its hold a raise costs nothing.
        let slack = |at: Index| {
            let limit = self.tree.branches.get(at).map_or(Amount::MAX, |branch| branch.limit(self.resource));
            limit.less(get(&occupied, at))
        };
        let mut room = Room::within(self.tree, all, slack);
        if guaranteed {
            let first = target
                .iter()
                .enumerate()
                .map(|(at, target)| missing((*target).min(self.guaranteed(at)), at))
                .collect();
            let own = |at: Index| self.guaranteed(at).less(get(&granted, at));
            room = room.with_first(self.tree, first, own);
        }
        let quantum = self.resource.quantum();
        let whole = |amount: &Amount| amount.units().checked_div(quantum).unwrap_or(0).max(1);
        let weight: Vec<i128> = self.deserved.iter().map(whole).collect();
        let held: Amount = self.tree.roots.iter().map(|root| get(&occupied, *root)).sum();
        let pour = Pour { tree: self.tree, resource: self.resource, have: &granted, weight: &weight };
        let received = pour.out(self.offered.less(held), &room);
        for (at, branch) in self.tree.branches.iter().enumerate() {
            if let Some(entry) = self.granted.get_mut(at).filter(|_| branch.is_leaf()) {
                *entry += get(&received, at);
            }
        }
    }
}

/// How far every leaf may be raised at no cost: what it was granted, and what it may occupy anyway by its pods and by
/// earlier grants as far as there is room for that beside what all others may occupy.
///
/// Where not all of it fits, somebody holds more than was granted, or seems to: others may have what this one had before,
/// and pods that are seen may be long gone.
fn costless(
    tree: &Tree<'_>,
    holders: &[Option<Holder<'_>>],
    hold: &[Amount],
    resource: &Resource,
    offered: Amount,
) -> Vec<Amount> {
    let below = sums(tree, hold.to_vec());
    let all: Amount = tree.roots.iter().map(|root| get(&below, *root)).sum();
    let beside_others = |at: Index| {
        let left = |all: Amount, bound: Amount| bound.less(all - get(hold, at));
        let above = tree.path_up(at).filter(|(index, _)| *index != at);
        let limits = above.map(|(index, branch)| left(get(&below, index), branch.limit(resource)));
        limits.fold(left(all, offered), Amount::min)
    };
    let of_leaf = |(at, holder): (Index, &Option<Holder<'_>>)| {
        let Some(holder) = holder else { return Amount::ZERO };
        holder.allocated(resource).max(holder.own_hold(resource).min(beside_others(at)))
    };
    holders.iter().enumerate().map(of_leaf).collect()
}
