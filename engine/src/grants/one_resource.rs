//! The grants of one resource in the making.

use super::{Aim, Holder};
use crate::amounts::{Amount, Resource};
use crate::shares::{Pour, Room, get, sums};
use crate::tree::{Index, Tree};

/// The grants of one resource in the making; every list has an entry a branch.
pub(super) struct OneResource<'a> {
    tree: &'a Tree<'a>,
    pub(super) resource: &'a Resource,
    capacity: Amount,
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
        capacity: Amount,
    ) -> Self {
        let hold: Vec<Amount> = holders
            .iter()
            .map(|holder| holder.map(|holder| holder.hold(resource)).unwrap_or_default())
            .collect();
        let deserved: Vec<Amount> = aim.deserved.iter().map(|deserved| deserved.get(resource)).collect();
        let idle: Vec<Amount> = aim.idle.iter().map(|idle| idle.get(resource)).collect();
        // What it may occupy anyway costs nothing.
        let entitled = deserved.iter().zip(&idle).map(|(deserved, idle)| *deserved + *idle);
        let granted: Vec<Amount> =
            hold.iter().zip(entitled).map(|(hold, entitled)| (*hold).min(entitled)).collect();
        let before = granted.clone();
        Self { tree, resource, capacity, hold, deserved, idle, before, granted }
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
        let received = pour.out(self.capacity.less(held), &room);
        for (at, branch) in self.tree.branches.iter().enumerate() {
            if let Some(entry) = self.granted.get_mut(at).filter(|_| branch.is_leaf()) {
                *entry += get(&received, at);
            }
        }
    }
}
