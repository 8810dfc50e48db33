//! What is left, of all there is and below limits.

use super::{BranchId, BranchMap, Tree};
use crate::amounts::{Amount, Amounts, Resource};

/// What is left beside what queues have; negative where they have more.
#[derive(Clone, Debug)]
pub(crate) struct Room<'a> {
    tree: &'a Tree<'a>,
    /// Of all there is.
    pub(crate) everywhere: Amounts,
    /// Below the limit of every parent, of what is limited. The limit of a leaf is in its target already.
    below: BranchMap<Amounts>,
}

impl<'a> Room<'a> {
    /// What is left of `all` where queues have `sums`.
    pub(crate) fn beside(tree: &'a Tree<'a>, all: &Amounts, sums: &BranchMap<Amounts>) -> Self {
        let below = tree.branches.map(|at, branch| {
            branch.limits_below().map(|(one, limit)| (one.clone(), limit - sums[at].get(one))).collect()
        });
        Self { tree, everywhere: tree.left(all, sums), below }
    }

    /// What is left of `one` below the limit of the queue at `at`, if it limits those below it.
    pub(crate) fn below(&self, at: BranchId, one: &Resource) -> Option<Amount> {
        self.tree.branches[at].limit_below(one).map(|_| self.below[at].get(one))
    }

    /// `amounts`, as far as they are left below every limit above the leaf at `at`.
    pub(crate) fn within_limits(&self, at: BranchId, mut amounts: Amounts) -> Amounts {
        for (index, branch) in self.tree.path_up(at) {
            for (one, _) in branch.limits_below() {
                amounts.set(one, amounts.get(one).min(self.below[index].get(one).or_zero()));
            }
        }
        amounts
    }

    /// Counts that the leaf at `at` has so much `more`, or less.
    pub(crate) fn take(&mut self, at: BranchId, more: &Amounts) {
        more.iter().for_each(|(one, more)| self.take_of(at, one, more));
    }

    /// The same of one resource.
    pub(crate) fn take_of(&mut self, at: BranchId, one: &Resource, more: Amount) {
        self.everywhere.add(one, Amount::ZERO - more);
        for (index, branch) in self.tree.path_up(at) {
            if branch.limit_below(one).is_some() {
                self.below[index].add(one, Amount::ZERO - more);
            }
        }
    }
}
