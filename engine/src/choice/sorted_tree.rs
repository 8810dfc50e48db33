//! Leaves in an order in which one that gives moves all of its relatives.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::simulation::{Level, Simulation};
use crate::shares::Fraction;
use crate::tree::BranchId;

/// Leaves as a tree: of each branch the children with leaves that are in, lowest key first.
///
/// A list of all leaves would have to be sorted again for each pod; here only the branches above a leaf are.
#[derive(Clone, Debug)]
pub(super) struct SortedTree<Key> {
    children: FxHashMap<Option<BranchId>, BTreeSet<(Key, BranchId)>>,
    known: FxHashMap<BranchId, Key>,
}

/// A key that depends on how far queues are above their targets.
pub(super) trait ByLevel: Clone + Ord {
    /// The key of a first child as that of its parent, which is so far above its target.
    fn of_parent(&self, above: Fraction) -> Self;
}

/// The farthest above its target comes first.
impl ByLevel for Reverse<Level> {
    fn of_parent(&self, above: Fraction) -> Self {
        let mut level = self.clone();
        level.0.insert(1, above);
        level
    }
}

impl<Key> Default for SortedTree<Key> {
    fn default() -> Self {
        Self { children: FxHashMap::default(), known: FxHashMap::default() }
    }
}

impl<Key: ByLevel> SortedTree<Key> {
    /// Puts `leaf` and the branches above it where they belong among their siblings; without a key the leaf is out. Whether
    /// any of them stood elsewhere.
    pub(super) fn sort(&mut self, leaf: BranchId, key: Option<Key>, simulation: &Simulation<'_>) -> bool {
        let (mut key, mut has_moved) = (key, false);
        for (at, branch) in simulation.context.tree.path_up(leaf) {
            if at != leaf {
                let first = self.children.get(&Some(at)).and_then(BTreeSet::first);
                key = first.map(|(key, _)| key.of_parent(simulation.above_target(at)));
            }
            if self.known.get(&at) == key.as_ref() {
                continue;
            }
            has_moved = true;
            let siblings = self.children.entry(branch.parent).or_default();
            if let Some(known) = self.known.remove(&at) {
                siblings.remove(&(known, at));
            }
            if let Some(key) = &key {
                siblings.insert((key.clone(), at));
                self.known.insert(at, key.clone());
            }
        }
        has_moved
    }

    /// The first leaf, where `key` says what the key of each is now.
    pub(super) fn first(
        &mut self,
        key: impl Fn(BranchId) -> Option<Key>,
        simulation: &Simulation<'_>,
    ) -> Option<BranchId> {
        loop {
            let first = |at: Option<BranchId>| self.children.get(&at)?.first().map(|(_, child)| *child);
            let leaf = std::iter::successors(first(None), |at| first(Some(*at))).last()?;
            // What comes up first may have moved since.
            if !self.sort(leaf, key(leaf), simulation) {
                return Some(leaf);
            }
        }
    }
}
