//! A value for each queue in the tree.

use std::ops::{Index, IndexMut};

/// A queue's place in its tree. Only the tree makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BranchId(usize);

/// A value for each queue of one tree, parents before their children.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchMap<T>(Vec<T>);

impl<T> BranchMap<T> {
    /// The map of a tree without queues.
    pub(super) const fn empty() -> Self {
        Self(Vec::new())
    }

    /// Adds the value of one more queue.
    pub(super) fn push(&mut self, value: T) -> BranchId {
        let id = BranchId(self.0.len());
        self.0.push(value);
        id
    }

    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = BranchId> + ExactSizeIterator + use<T> {
        (0..self.0.len()).map(BranchId)
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.0.iter()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (BranchId, &T)> {
        self.ids().zip(&self.0)
    }

    /// What `of` makes of each value.
    pub(crate) fn map<'s, Other>(&'s self, mut of: impl FnMut(BranchId, &'s T) -> Other) -> BranchMap<Other> {
        BranchMap(self.iter().map(|(at, value)| of(at, value)).collect())
    }
}

impl<T> Index<BranchId> for BranchMap<T> {
    type Output = T;

    #[expect(
        clippy::indexing_slicing,
        reason = "a map has a value for each queue of the tree that made the id"
    )]
    fn index(&self, at: BranchId) -> &T {
        &self.0[at.0]
    }
}

impl<T> IndexMut<BranchId> for BranchMap<T> {
    #[expect(
        clippy::indexing_slicing,
        reason = "a map has a value for each queue of the tree that made the id"
    )]
    fn index_mut(&mut self, at: BranchId) -> &mut T {
        &mut self.0[at.0]
    }
}
