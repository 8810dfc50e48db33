//! The cluster as every layer of a decision sees it.

use crate::amounts::{Amounts, Resource};
use crate::leaf::Leaf;
use crate::names::Namespace;
use crate::shares::Fraction;
use crate::snapshot::Snapshot;
use crate::tree::{BranchId, BranchMap, Tree};
use crate::usage::Usage;

/// What every layer decides from.
#[derive(Clone, Copy)]
pub(crate) struct Cluster<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) usage: &'a Usage<'a>,
    pub(crate) tree: &'a Tree<'a>,
    /// None for parents.
    pub(crate) leaves: &'a BranchMap<Option<Leaf<'a>>>,
    /// What there is to share.
    pub(crate) capacity: &'a Amounts,
    /// The part of it that nodes offer: what quotas may grow into.
    pub(crate) offered: &'a Amounts,
    pub(crate) governed: &'a [Resource],
    /// The governed resources of which there is any. Of the others nothing shrinks: no capacity in sight is more often a
    /// blind operator than an empty cluster.
    pub(crate) resources: &'a [Resource],
}

impl<'a> Cluster<'a> {
    pub(crate) fn leaf(&self, at: BranchId) -> Option<&'a Leaf<'a>> {
        self.leaves[at].as_ref()
    }

    /// The leaf that governs `namespace`.
    pub(crate) fn leaf_in(&self, namespace: &Namespace) -> Option<&'a Leaf<'a>> {
        self.leaf(*self.tree.leaves.get(namespace)?)
    }

    pub(crate) fn each_leaf(&self) -> impl Iterator<Item = &'a Leaf<'a>> + use<'a> {
        self.leaves.values().flatten()
    }

    /// What `of` makes of each leaf, and nothing of parents.
    pub(crate) fn of_leaves<Value: Default>(
        &self,
        mut of: impl FnMut(&'a Leaf<'a>) -> Value,
    ) -> BranchMap<Value> {
        self.leaves.map(|_, leaf| leaf.as_ref().map(&mut of).unwrap_or_default())
    }

    /// The largest part that `amounts` are of what there is, over all resources, by `weight`.
    pub(crate) fn dominant(&self, amounts: &Amounts, weight: u32) -> Fraction {
        let part = |one: &Resource| Fraction {
            part: amounts.get(one).units(),
            whole: self.capacity.get(one).units().saturating_mul(weight.into()),
        };
        self.resources.iter().map(part).max().unwrap_or(Fraction::NOTHING)
    }
}
