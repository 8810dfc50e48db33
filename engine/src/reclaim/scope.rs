//! Scopes: within which part of the tree pods are taken, and how much (S-HARDEN §Changes in fence selection).
//!
//! A queue that is short takes from inside the lowest of: a queue above it that is a fence by policy, one whose
//! limit its ask would exceed, the whole cluster. Seen from above: limits take first, inner ones before outer ones,
//! and what their victims free is then no longer missing outside; fences take last, for what is missing when
//! everybody else has been served.

use crate::amounts::{Amount, Amounts, Resource};
use crate::tree::{Index, Tree};

use super::balance::Balance;

/// A part of the tree inside which pods are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Inside this queue because its limit would be exceeded.
    Limit(Index),
    /// Inside this queue because it is a fence.
    Fence(Index),
    /// Anywhere.
    Cluster,
}

impl Scope {
    /// Every scope of the tree in the order in which it is served: limits, inner ones first, then the cluster, then
    /// fences.
    pub(super) fn all(tree: &Tree<'_>) -> Vec<Self> {
        let inner_first = || tree.branches.iter().enumerate().rev();
        // A leaf's own limit is in its share; only parents bind several queues together.
        let limits = inner_first().filter(|(_, branch)| !branch.is_leaf() && !branch.queue.limit.is_empty());
        let fences = inner_first().filter(|(_, branch)| branch.is_fence);
        let limits = limits.map(|(at, _)| Self::Limit(at));
        limits.chain([Self::Cluster]).chain(fences.map(|(at, _)| Self::Fence(at))).collect()
    }

    /// The queue at its top; none for the cluster.
    pub(super) fn top(self) -> Option<Index> {
        match self {
            Self::Limit(at) | Self::Fence(at) => Some(at),
            Self::Cluster => None,
        }
    }

    /// Whether the leaf at `at` is inside.
    pub(super) fn contains(self, tree: &Tree<'_>, at: Index) -> bool {
        self.top().is_none_or(|top| tree.path_up(at).any(|(index, _)| index == top))
    }

    /// Whether the leaf at `at` takes from this scope and from no inner fence.
    pub(super) fn serves(self, tree: &Tree<'_>, at: Index) -> bool {
        let fence = tree.fence_above(at);
        match self {
            Self::Limit(_) => self.contains(tree, at),
            Self::Fence(top) => fence == Some(top),
            Self::Cluster => fence.is_none(),
        }
    }
}

/// What is still missing in a scope, per resource: `promised` is what its own queues lack, `unfenced` what those
/// behind no fence lack.
///
/// Room that is about to become free goes to queues without a fence first, see [`grants`](crate::grants): those
/// behind one count on what is left when the others have been served.
pub(super) fn missing(
    scope: Scope,
    tree: &Tree<'_>,
    balance: &Balance,
    promised: &Amounts,
    unfenced: &Amounts,
    capacity: &Amounts,
    resources: &[&Resource],
) -> Amounts {
    let held = Balance::everywhere(tree, &balance.settled);
    let of_resource = |resource: &Resource| -> Amount {
        let (held, promised) = (held.get(resource), promised.get(resource));
        match scope {
            Scope::Limit(at) => {
                let Some(branch) = tree.branches.get(at) else { return Amount::ZERO };
                let held = balance.settled.get(at).map(|held| held.get(resource)).unwrap_or_default();
                (held + promised).less(branch.limit(resource))
            }
            Scope::Fence(_) => {
                (held + unfenced.get(resource) + promised).less(capacity.get(resource)).min(promised)
            }
            Scope::Cluster => {
                let capacity = capacity.get(resource);
                let exceeded = (held - balance.impossible.get(resource)).less(capacity);
                (held + promised).less(capacity).min(promised + exceeded)
            }
        }
    };
    resources.iter().map(|resource| ((*resource).clone(), of_resource(resource))).collect()
}
