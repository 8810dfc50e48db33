//! Leaves in an order in which one that gives moves all of its relatives.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::shares::Fraction;
use crate::tree::{BranchId, BranchMap, Tree};

/// Leaves as a tree: of each branch the children with leaves that are in, lowest key first.
///
/// A list of all leaves would have to be sorted again for each pod; here only the branches above a leaf are.
#[derive(Clone, Debug)]
pub(super) struct SortedTree<Key> {
    children: FxHashMap<Option<BranchId>, BTreeSet<(Key, BranchId)>>,
    known: FxHashMap<BranchId, Key>,
}

/// How far the leaves below each branch are above their targets, by its weight.
pub(super) type Above = BranchMap<Fraction>;

/// A key that depends on how far queues are above their targets.
pub(super) trait ByLevel: Clone + Ord {
    /// The key of a first child as that of its parent, which is so far above its target.
    fn of_parent(&self, above: Fraction) -> Self;
}

/// First the leaves below an exceeded limit, because their pods go anyway; then the farthest above its target.
pub(super) type Giver = (Reverse<bool>, Reverse<Fraction>);

impl ByLevel for Giver {
    fn of_parent(&self, above: Fraction) -> Self {
        (self.0, Reverse(above))
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
    pub(super) fn sort(&mut self, leaf: BranchId, key: Option<Key>, tree: &Tree<'_>, above: &Above) -> bool {
        let (mut key, mut has_moved) = (key, false);
        for (at, branch) in tree.path_up(leaf) {
            if at != leaf {
                let first = self.children.get(&Some(at)).and_then(BTreeSet::first);
                key = first.map(|(key, _)| key.of_parent(above[at]));
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

    /// The first leaf with its key, unless it has moved since it was sorted.
    pub(super) fn first(&self) -> Option<(Key, BranchId)> {
        let first = |at: Option<BranchId>| self.children.get(&at)?.first();
        std::iter::successors(first(None), |(_, at)| first(Some(*at))).last().cloned()
    }
}
