//! Which pods have to go so that units of other queues get room.
//!
//! ```text
//!  asks: units within     placed on nodes, free ones first;     what is still short below a limit     unneeded victims
//!  their queue's target ─► else the node that is the cheapest ─► or everywhere comes from the queues ─► stay, the most ─► victims
//!  that lack room          to free                               farthest above their targets           protected first
//! ```
//!
//! All of it happens in one [`Simulation`], in which pods are removed and added and everything can be undone. An ask that
//! cannot be served evicts no pod. While victims leave nothing is asked for that they leave room for, so nothing here has to
//! agree with the plan before.

mod budgets;
mod candidate;
mod candidates;
mod cover;
mod exact_cover;
mod gangs;
mod givers;
mod greedy_cover;
mod nodes;
mod order;
mod outcome;
mod place;
mod queue_state;
mod rules;
mod select;
mod serve;
mod simulation;
mod stuck;
mod unbound;

pub(crate) use candidate::{Bond, Candidate, Together};
pub(crate) use candidates::{
    Candidates, Replicas, candidates, is_protected, next_unprotected, non_preemptible, replicas,
};
pub(crate) use nodes::{Group, NodeResources, Search};
pub(crate) use order::rank;
pub(crate) use outcome::ReclaimResult;
pub(crate) use queue_state::QueueState;
pub(crate) use rules::Rules;
pub(crate) use select::{select, select_together};
pub(crate) use serve::evictions;
pub(crate) use simulation::{Mark, Simulation};
pub(crate) use unbound::unbound;

use crate::amounts::{Amounts, Resource};
use crate::plan::stuck_terminating::OVERDUE_SECONDS;
use crate::snapshot::{Pod, Snapshot};
use crate::tree::{Index, Tree};
use crate::usage::Usage;

/// Everything that stays the same while victims are chosen.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) usage: &'a Usage<'a>,
    pub(crate) tree: &'a Tree<'a>,
    /// An entry a branch, none for parents.
    pub(crate) queue_states: &'a [Option<QueueState<'a>>],
    pub(crate) capacity: &'a Amounts,
    /// The governed resources of which there is any.
    pub(crate) resources: &'a [Resource],
    /// Whether the targets are those of the decision before, so that what is to go for them was chosen then.
    pub(crate) same_targets: bool,
}

impl<'a> Context<'a> {
    fn queue_state(&self, at: Index) -> Option<&'a QueueState<'a>> {
        self.queue_states.get(at).and_then(Option::as_ref)
    }

    /// Whether what was chosen for these targets is on its way: until it is gone nothing else is begun.
    fn is_under_way(&self) -> bool {
        let mut leaves = self.leaves();
        self.same_targets && leaves.any(|(_, queue_state)| self.loses(queue_state))
    }

    /// Whether pods of a queue that were evicted leave, and are not overdue.
    fn loses(&self, queue_state: &QueueState<'_>) -> bool {
        let now = self.snapshot.now;
        let leaves = |pod: &Pod| {
            let is_overdue = pod.deletion.is_none_or(|by| by.plus_seconds(OVERDUE_SECONDS) <= now);
            pod.evicted && pod.is_charged() && !is_overdue
        };
        queue_state.leaf.namespace_usage.pods.terminating > 0
            && queue_state.leaf.state.pods.iter().any(leaves)
    }

    /// The leaves, by their places.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = (Index, &'a QueueState<'a>)> + use<'a> {
        let queue_states = self.queue_states;
        queue_states.iter().enumerate().filter_map(|(at, queue_state)| Some((at, queue_state.as_ref()?)))
    }
}
