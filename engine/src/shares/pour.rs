//! Pouring: an amount handed out down the tree, lowest level first, within what every branch may still receive.

use super::{Level, fill};
use crate::amounts::{Amount, Resource};
use crate::tree::{BranchId, BranchMap, Tree};

/// One resource, poured down one tree.
pub(crate) struct WaterFilling<'a> {
    pub(crate) tree: &'a Tree<'a>,
    pub(crate) resource: &'a Resource,
    /// What counts toward the level of each queue already; of parents the sums.
    pub(crate) have: &'a BranchMap<Amount>,
    /// How wide each queue is. Zero takes only what no other queue needs.
    pub(crate) weight: &'a BranchMap<i128>,
    /// What each queue may still receive.
    pub(crate) room: &'a BranchMap<Amount>,
}

impl WaterFilling<'_> {
    /// What every branch receives of `amount`.
    pub(crate) fn out(&self, amount: Amount) -> BranchMap<Amount> {
        let mut received = self.tree.branches.map(|_, _| Amount::ZERO);
        self.among(&self.tree.roots, amount, &mut received);
        for (at, branch) in self.tree.branches.iter() {
            self.among(&branch.children, received[at], &mut received);
        }
        received
    }

    /// Hands `amount` out to `siblings`.
    fn among(&self, siblings: &[BranchId], amount: Amount, received: &mut BranchMap<Amount>) {
        if !amount.is_positive() {
            return;
        }
        let wanted: Amount = siblings.iter().map(|at| self.room[*at]).sum();
        if wanted <= amount {
            for at in siblings {
                received[*at] = self.room[*at];
            }
            return;
        }
        let level = |at: &BranchId| Level {
            have: self.have[*at].units(),
            room: self.room[*at].units(),
            weight: self.weight[*at],
        };
        let levels: Vec<Level> = siblings.iter().map(level).collect();
        for (at, units) in siblings.iter().zip(fill(amount.units(), &levels, self.resource.quantum())) {
            received[*at] = Amount::new(units);
        }
    }
}

/// The amounts of leaves, and for parents the sums of their children.
pub(crate) fn sums(tree: &Tree<'_>, of_leaves: BranchMap<Amount>) -> BranchMap<Amount> {
    sums_within(tree, of_leaves, |_| Amount::MAX)
}

/// The same, of each parent at most its `slack`.
pub(crate) fn sums_within(
    tree: &Tree<'_>,
    of_leaves: BranchMap<Amount>,
    slack: impl Fn(BranchId) -> Amount,
) -> BranchMap<Amount> {
    let mut amounts = of_leaves;
    for (at, branch) in tree.branches.iter().rev().filter(|(_, branch)| !branch.is_leaf()) {
        let below: Amount = branch.children.iter().map(|child| amounts[*child]).sum();
        amounts[at] = below.min(slack(at));
    }
    amounts
}
