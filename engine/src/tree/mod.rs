//! The tree of queues: which queue takes a share from which parent, and which cannot.
//!
//! ```text
//!            the cluster
//!           /           \
//!      org/research   team-c/team-c      parents group, leaves govern the pods of their namespace
//!       /        \
//!  team-a/a    team-b/b
//! ```

mod branch_map;
mod grow;
mod kueue;
mod room;
mod stall;

use std::collections::BTreeMap;

pub(crate) use branch_map::{BranchId, BranchMap};
pub(crate) use grow::grow;
pub(crate) use room::Room;

use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::names::{Namespace, QueueName};
use crate::plan::{Reach, Stall};
use crate::snapshot::{EvictionRules, Queue};

/// The queues that have a share, and those that have none.
#[derive(Debug)]
pub(crate) struct Tree<'a> {
    /// Every queue with a share, parents before their children, siblings by path.
    pub(crate) branches: BranchMap<Branch<'a>>,
    /// Those without a parent, by path.
    pub(crate) roots: Vec<BranchId>,
    /// Which leaf governs which namespace.
    pub(crate) leaves: BTreeMap<&'a Namespace, BranchId>,
    /// Every other Queue, and why.
    pub(crate) stalled: BTreeMap<QueueName, Stall>,
}

/// A queue in the tree.
#[derive(Debug)]
pub(crate) struct Branch<'a> {
    pub(crate) name: QueueName,
    pub(crate) queue: &'a Queue,
    pub(crate) parent: Option<BranchId>,
    /// By path.
    pub(crate) children: Vec<BranchId>,
    /// Of a leaf what ResourceQuotas of others in its namespace allow: they bound its share as a limit does.
    pub(crate) foreign: Option<&'a Bounds>,
    /// What may be taken from it: its own rules, and those of the queues above it.
    pub(crate) eviction: EvictionRules,
    /// How far a plan is carried out in it.
    pub(crate) reach: Reach,
    /// Whether it is a preemption fence: pods are evicted for queues at or below it only at or below it.
    pub(crate) is_fence: bool,
}

impl Branch<'_> {
    pub(crate) fn is_leaf(&self) -> bool {
        self.queue.children.is_none()
    }

    /// What bounds all queues below it together. The limit of a leaf is in its target already.
    pub(crate) fn limits_below(&self) -> impl Iterator<Item = (&Resource, Amount)> {
        self.queue.limit.iter().filter(|_| !self.is_leaf())
    }

    /// Its limit on `resource`, its own or of a parent, or more than anything.
    pub(crate) fn limit(&self, resource: &Resource) -> Amount {
        let own = self.queue.limit.get(resource);
        let foreign = self.foreign.and_then(|foreign| foreign.get(resource));
        own.into_iter().chain(foreign).min().unwrap_or(Amount::MAX)
    }
}

impl<'a> Tree<'a> {
    /// The queue at `at` and those above it, upwards.
    pub(crate) fn path_up(&self, at: BranchId) -> impl Iterator<Item = (BranchId, &Branch<'a>)> {
        let branch = |at: BranchId| (at, &self.branches[at]);
        std::iter::successors(Some(branch(at)), move |(_, below)| Some(branch(below.parent?)))
    }

    /// What leaves have, and for parents the sums of their children.
    pub(crate) fn sums(&self, of_leaves: BranchMap<Amounts>) -> BranchMap<Amounts> {
        let mut sums = of_leaves;
        for (at, branch) in self.branches.iter().rev() {
            for child in &branch.children {
                let below = sums[*child].clone();
                sums[at].add_all(&below);
            }
        }
        sums
    }

    /// What is left of `all` beside what the roots have of `sums`; negative where they have more.
    pub(crate) fn left(&self, all: &Amounts, sums: &BranchMap<Amounts>) -> Amounts {
        let mut left = all.clone();
        self.roots.iter().for_each(|root| left.subtract_all(&sums[*root]));
        left
    }

    /// Whether the queue at `at` is `top`, or below it.
    pub(crate) fn is_below(&self, at: BranchId, top: BranchId) -> bool {
        self.path_up(at).any(|(index, _)| index == top)
    }

    /// How many queues there are from the root down to the lowest fence that the queue at `at` is behind.
    pub(crate) fn depth_of_fence(&self, at: BranchId) -> usize {
        self.fence_above(at).map_or(0, |fence| self.path_up(fence).count())
    }

    /// The lowest fence that the queue at `at` is behind.
    pub(crate) fn fence_above(&self, at: BranchId) -> Option<BranchId> {
        self.path_up(at).find(|(_, branch)| branch.is_fence).map(|(index, _)| index)
    }
}
