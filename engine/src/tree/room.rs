//! What is left, of all there is and below limits.

use super::{Branch, BranchId, BranchMap, Tree};
use crate::amounts::{Amount, Amounts, Resource};

/// What queues have, and what is left beside that; negative where they have more.
#[derive(Clone, Debug)]
pub(crate) struct Room<'a> {
    tree: &'a Tree<'a>,
    /// Of all there is.
    pub(crate) everywhere: Amounts,
    /// What queues have; of parents the sums of their children's.
    pub(crate) sums: BranchMap<Amounts>,
}

impl<'a> Room<'a> {
    /// What is left of `all` where queues have `sums`.
    pub(crate) fn beside(tree: &'a Tree<'a>, all: &Amounts, sums: BranchMap<Amounts>) -> Self {
        Self { tree, everywhere: tree.left(all, &sums), sums }
    }

    /// What is left of `one` below the limit of the queue at `at`, if it limits those below it.
    pub(crate) fn below(&self, at: BranchId, one: &Resource) -> Option<Amount> {
        let branch = &self.tree.branches[at];
        let limit = branch.queue.limit.get(one).filter(|_| !branch.is_leaf())?;
        Some(limit - self.sums[at].get(one))
    }

    /// `amounts`, as far as they are left below every limit above the leaf at `at`.
    pub(crate) fn within_limits(&self, at: BranchId, mut amounts: Amounts) -> Amounts {
        for (index, branch) in self.tree.path_up(at) {
            for (one, limit) in branch.limits_below() {
                amounts.set(one, amounts.get(one).min(limit.less(self.sums[index].get(one))));
            }
        }
        amounts
    }

    /// Whether the leaf at `at` can have so much `more` within all there is, its own limit and every one above it.
    pub(crate) fn fits(&self, at: BranchId, more: &Amounts) -> bool {
        more.iter().all(|(one, more)| {
            let is_below = |(index, branch): (BranchId, &Branch<'_>)| {
                self.sums[index].get(one) + more <= branch.limit(one)
            };
            more <= self.everywhere.get(one) && self.tree.path_up(at).all(is_below)
        })
    }

    /// Counts that the leaf at `at` has so much `more`, or less.
    pub(crate) fn take(&mut self, at: BranchId, more: &Amounts) {
        more.iter().for_each(|(one, more)| self.take_of(at, one, more));
    }

    /// The same of one resource.
    pub(crate) fn take_of(&mut self, at: BranchId, one: &Resource, more: Amount) {
        self.everywhere.add(one, Amount::ZERO - more);
        self.tree.path_up(at).for_each(|(index, _)| self.sums[index].add(one, more));
    }
}
