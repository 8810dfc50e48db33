//! Which pods have to go so that units of other queues get room.
//!
//! ```text
//!  pending units within    placed on nodes, free ones first;     what is still short below a limit     unneeded victims
//!  their queue's target ─► else the node that is the cheapest ─► or everywhere comes from the queues ─► stay, the most ─► victims
//!  that lack room          to free                               farthest above their targets           protected first
//! ```
//!
//! All of it happens in one [`Simulation`], in which pods are removed and added and everything can be undone. A unit that
//! cannot be served evicts no pod. While victims leave nothing is asked for that they leave room for, so nothing here has to
//! agree with the plan before.

mod budgets;
mod cheapest;
mod cover;
mod nodes;
mod outcome;
mod place;
mod queue_state;
mod reclaim;
mod rules;
mod simulation;
mod sorted_tree;
mod stuck;
mod unbound;
mod work;

pub use budgets::Budgets;
pub(crate) use nodes::{Group, Search};
pub(crate) use outcome::{EvictionSet, ReclaimResult};
pub(crate) use queue_state::QueueState;
pub(crate) use reclaim::evictions;
pub(crate) use rules::Rules;
pub(crate) use simulation::{Mark, Simulation};
pub(crate) use unbound::unbound;

use std::ops::Deref;

use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::grants::Grants;
use crate::leaf::Leaf;
use crate::shares::Shares;
use crate::snapshot::Pod;
use crate::tree::{BranchId, BranchMap};

/// Everything that stays the same while victims are chosen.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) cluster: Cluster<'a>,
    pub(crate) shares: &'a BranchMap<Shares>,
    pub(crate) targets: &'a BranchMap<Amounts>,
    pub(crate) granted: &'a Grants,
    /// Whether the targets are those of the decision before, so that what is to go for them was chosen then.
    pub(crate) same_targets: bool,
}

impl<'a> Deref for Context<'a> {
    type Target = Cluster<'a>;

    fn deref(&self) -> &Cluster<'a> {
        &self.cluster
    }
}

impl<'a> Context<'a> {
    /// What of `allocated`, which the quota of the leaf at `at` allows next, is lent on what its pods hold, and goes with them.
    pub(crate) fn on_pods(&self, at: BranchId, allocated: &Amounts) -> Amounts {
        self.granted.loans[at].on_pods.min(&allocated.less(&self.targets[at]))
    }

    pub(crate) fn queue_state(&self, at: BranchId) -> Option<QueueState<'a>> {
        let granted = self.granted;
        Some(QueueState {
            cluster: self.cluster,
            leaf: self.leaf(at)?,
            target: &self.targets[at],
            deserved: &self.shares[at].deserved,
            allocated: &granted.allocated[at],
            firm: &granted.firm[at],
            owed: &granted.owed[at],
        })
    }

    /// Each leaf.
    pub(crate) fn queue_states(&self) -> impl Iterator<Item = QueueState<'a>> + use<'a> {
        let context = *self;
        self.tree.branches.ids().filter_map(move |at| context.queue_state(at))
    }

    /// Whether what was chosen for these targets is on its way: until it is gone nothing else is begun.
    ///
    /// A pod that a user has evicted holds up no queue: it was given more time than Quotient gives, or its queue uses no more
    /// than its target.
    fn is_under_way(&self) -> bool {
        let is_losing = |leaf: &Leaf<'_>| {
            let charged = leaf.namespace_usage.charged.of(self.governed);
            !charged.less(&self.targets[leaf.at]).is_empty()
        };
        self.same_targets && self.leaving_victims().any(|(leaf, _)| is_losing(leaf))
    }

    /// The victims that are on their way out, as far as can be seen, each with its leaf.
    fn leaving_victims(&self) -> impl Iterator<Item = (&'a Leaf<'a>, &'a Pod)> {
        let now = self.snapshot.now;
        let of_leaf = move |leaf: &'a Leaf<'a>| {
            let most = leaf.eviction.most_grace_seconds();
            let is_ours =
                move |pod: &Pod| pod.evicted && pod.is_terminating() && pod.deletion_seconds <= most;
            let leaves = move |pod: &&Pod| is_ours(pod) && pod.is_charged() && !pod.is_overdue(now);
            leaf.state.pods.iter().filter(leaves).map(move |pod| (leaf, pod))
        };
        self.each_leaf().filter(|leaf| leaf.namespace_usage.pods.terminating > 0).flat_map(of_leaf)
    }
}
