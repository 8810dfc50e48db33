//! Which leaf gives next: the one that is the farthest above its target.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::simulation::Simulation;
use crate::shares::Fraction;
use crate::tree::BranchId;

/// The leaves that may give: first those below an exceeded limit, because their pods go anyway.
#[derive(Default)]
pub(super) struct Givers {
    above_limits: Sorted,
    others: Sorted,
}

impl Givers {
    /// Adds the leaf at `at`, or sorts it again after its pods went or came back.
    pub(super) fn insert(&mut self, at: BranchId, simulation: &Simulation<'_>) {
        if simulation.is_above_a_limit(at) {
            self.others.remove(at, simulation);
            self.above_limits.insert(at, simulation);
        } else {
            self.above_limits.remove(at, simulation);
            self.others.insert(at, simulation);
        }
    }

    pub(super) fn remove(&mut self, at: BranchId, simulation: &Simulation<'_>) {
        self.above_limits.remove(at, simulation);
        self.others.remove(at, simulation);
    }

    pub(super) fn first(&mut self, simulation: &Simulation<'_>) -> Option<BranchId> {
        while let Some(at) = self.above_limits.first() {
            if simulation.is_above_a_limit(at) {
                return Some(at);
            }
            // Others below the same limit have given meanwhile.
            self.insert(at, simulation);
        }
        self.others.first()
    }
}

/// Leaves as a tree: of each branch the children with leaves that give, the farthest above their targets first.
///
/// A leaf that gives moves all of its relatives. A list of all leaves would have to be sorted again for each pod; here only the
/// branches above the leaf are.
#[derive(Default)]
struct Sorted {
    children: FxHashMap<Option<BranchId>, BTreeSet<(Reverse<Fraction>, BranchId)>>,
    known: FxHashMap<BranchId, Fraction>,
}

impl Sorted {
    fn insert(&mut self, at: BranchId, simulation: &Simulation<'_>) {
        for (index, branch) in simulation.context.tree.path_up(at) {
            self.sort(index, branch.parent, simulation);
        }
    }

    fn remove(&mut self, at: BranchId, simulation: &Simulation<'_>) {
        if !self.known.contains_key(&at) {
            return;
        }
        for (index, branch) in simulation.context.tree.path_up(at) {
            let gives = self.children.get(&Some(index)).is_some_and(|children| !children.is_empty());
            if gives {
                self.sort(index, branch.parent, simulation);
            } else if let Some(known) = self.known.remove(&index) {
                self.children.entry(branch.parent).or_default().remove(&(Reverse(known), index));
            }
        }
    }

    /// Puts the branch at `index` where it belongs among its siblings.
    fn sort(&mut self, index: BranchId, parent: Option<BranchId>, simulation: &Simulation<'_>) {
        let now = simulation.above_target(index);
        let siblings = self.children.entry(parent).or_default();
        if let Some(known) = self.known.insert(index, now) {
            siblings.remove(&(Reverse(known), index));
        }
        siblings.insert((Reverse(now), index));
    }

    fn first(&self) -> Option<BranchId> {
        let first = |at: Option<BranchId>| self.children.get(&at)?.first().map(|(_, index)| *index);
        std::iter::successors(first(None), |index| first(Some(*index))).last()
    }
}
