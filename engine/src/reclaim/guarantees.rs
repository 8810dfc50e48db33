//! What queues keep: no eviction takes one, or one above it, below what it is guaranteed (S-HARDEN).

use crate::amounts::{Amount, Amounts, Resource};
use crate::tree::{Index, Tree};

/// How much may still be taken of each resource before a guarantee is touched; every list has an entry a branch.
#[derive(Clone, Debug)]
pub(super) struct Guarantees {
    /// What is occupied below each branch by pods that stay.
    staying: Vec<Amounts>,
    /// What each branch is guaranteed of what it deserves.
    floor: Vec<Amounts>,
}

impl Guarantees {
    /// `staying` and `deserved` of leaves.
    pub(super) fn new(tree: &Tree<'_>, staying: Vec<Amounts>, deserved: Vec<Amounts>) -> Self {
        let deserved = tree.sums(deserved);
        let floor = tree.branches.iter().zip(&deserved).map(|(branch, deserved)| {
            let guaranteed = branch.queue.guaranteed.iter();
            guaranteed
                .map(|(resource, amount)| (resource.clone(), amount.min(deserved.get(resource))))
                .collect()
        });
        Self { staying: tree.sums(staying), floor: floor.collect() }
    }

    /// How much of `resource` may be taken from the leaf at `at` before a guarantee is touched.
    ///
    /// What moves inside a queue does not take it below its guarantee, so queues that contain a taker do not count.
    pub(super) fn spare(
        &self,
        tree: &Tree<'_>,
        at: Index,
        resource: &Resource,
        contains_taker: impl Fn(Index) -> bool,
    ) -> Amount {
        let bound = |(index, _): (Index, _)| {
            let floor = self.floor.get(index)?.get(resource);
            if !floor.is_positive() || (index != at && contains_taker(index)) {
                return None;
            }
            Some(self.staying.get(index)?.get(resource).less(floor))
        };
        tree.path_up(at).filter_map(bound).min().unwrap_or(Amount::MAX)
    }

    /// Books that a pod of the leaf at `at` goes.
    pub(super) fn take(&mut self, tree: &Tree<'_>, at: Index, requests: &Amounts) {
        let path: Vec<Index> = tree.path_up(at).map(|(index, _)| index).collect();
        for index in path {
            if let Some(staying) = self.staying.get_mut(index) {
                staying.subtract_all(requests);
            }
        }
    }
}
