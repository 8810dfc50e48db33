//! Inside a queue: owners of a lower priority yield to pods that lack room (S-MCM).
//!
//! ```text
//!  asks, by priority          room in the queue             cheapest victims              owners
//!  (refused, unschedulable, ─► and on a node? ──── no ────► of a strictly lower ────────► scaled down by as many,
//!   held back)                      │                       priority, on one node         former size remembered
//!                                   └─ yes: kept for them; what is held back and fits now is restored
//! ```
//!
//! A pod on its way out, or more than its owner wants, counts as gone: the plan made while victims move from surplus to
//! terminating to gone is the same, and finds nothing more to do. Priorities do not change in a plan; nobody yields to
//! an equal; whoever gives something gets nothing in the same plan, and no more until its pods are gone.
//!
//! Which pods go is up to the controllers of Kubernetes (`removal.rs`): only a ReplicaSet's can be told. So a pod is
//! chosen together with all that its controller takes before it.

mod asks;
mod assumption;
mod members;
mod preemption_pass;
mod queue_preemption;
pub(crate) mod removal;
mod room;
mod tell;

use std::collections::{BTreeMap, BTreeSet};

use crate::choice::{NodeResources, QueueState, unbound};
use crate::names::{NodeName, QueueName};
use crate::plan::{PassedOver, Plan, PodId, Scaling};
use crate::snapshot::{OwnerKind, Preemption, Snapshot};
use crate::usage::Usage;

use asks::{Kind, asks, is_unschedulable};
use assumption::{Assumption, When};
use preemption_pass::PreemptionPass;

/// What is to be done inside queues.
#[derive(Debug, Default)]
pub(crate) struct Yielded {
    /// The owners to scale.
    pub(crate) scalings: Vec<Scaling>,
    /// The pods that a rule kept although somebody of a higher priority lacks room.
    pub(crate) passed_over: Vec<PassedOver>,
    /// The owners whose pods will have room once others are gone.
    pub(crate) promised: BTreeMap<QueueName, BTreeSet<(OwnerKind, std::sync::Arc<str>)>>,
}

/// What `plan` leaves to do inside the queues of `queue_states`.
pub(crate) fn yielded<'a>(
    snapshot: &'a Snapshot,
    usage: &'a Usage<'a>,
    queue_states: &[Option<QueueState<'a>>],
    plan: &Plan,
) -> Yielded {
    let mut yielded = Yielded::default();
    // Whoever was scaled down gets its size back also where nobody yields any more.
    let is_held_back = |queue_state: &QueueState<'_>| {
        queue_state.state.owners.iter().any(|owner| owner.size.former.is_some())
    };
    let mut node_resources: Option<NodeResources<'a>> = None;
    for queue_state in
        queue_states.iter().flatten().filter(|queue_state| yields(queue_state) || is_held_back(queue_state))
    {
        let mut asks = asks(queue_state);
        if !yields(queue_state) {
            // What exists already has its room kept.
            asks.retain(|ask| ask.kind != Kind::Unschedulable);
            for ask in &mut asks {
                ask.preempts = false;
            }
        }
        if asks.is_empty() || !plan.queues.contains_key(queue_state.name) {
            continue;
        }
        let node_resources =
            node_resources.get_or_insert_with(|| rooms_beside_others(snapshot, usage, queue_states));
        // What others give back for this queue leaves room on their nodes, too.
        let evictions = plan.evictions.iter().chain(&plan.waiting);
        for eviction in evictions.filter(|eviction| eviction.beneficiary.as_ref() == Some(queue_state.name)) {
            if let Some(at) = node_of(snapshot, &eviction.pod).and_then(|node| node_resources.find(node)) {
                node_resources.give(at, &eviction.requests);
            }
        }
        let assumption = Assumption { snapshot, usage, plan, queue_state: *queue_state };
        let pass = decide(&assumption, &asks, node_resources);
        tell::tell(&pass, &asks, &mut yielded);
    }
    yielded
}

/// Whether owners of the queue yield to others of it.
fn yields(queue_state: &QueueState<'_>) -> bool {
    queue_state.queue.preemption == Preemption::LowerPriority
}

/// Decides for one queue.
///
/// First with everybody on his way out as gone. Where that does not do, once more with all of them as if they were still
/// there: while only some of those who are to go are on their way, that is the decision that was made before, and what
/// it asks for beyond them is what is left of it.
fn decide<'a>(
    assumption: &Assumption<'a, '_>,
    asks: &[asks::Ask<'a>],
    node_resources: &mut NodeResources<'a>,
) -> PreemptionPass<'a> {
    let members = assumption.members(When::AllAreGone);
    let surplus = members.iter().any(|member| member.surplus > 0);
    if assumption.queue_state.namespace_usage.pods.terminating == 0 && !surplus {
        return assumption.pass(members, When::AllAreGone, asks, node_resources);
    }
    let mut others = node_resources.clone();
    let gone = assumption.pass(members, When::AllAreGone, asks, node_resources);
    if gone.queue_preemption.newly_chosen() == 0 && gone.unmet.is_empty() {
        return gone;
    }
    let members = assumption.members(When::NobodyIs);
    let there = assumption.pass(members, When::NobodyIs, asks, &mut others);
    if there.is_as_good_as(&gone, asks) {
        *node_resources = others;
        return there;
    }
    gone
}

fn node_of<'a>(snapshot: &'a Snapshot, id: &PodId) -> Option<&'a NodeName> {
    let state = snapshot.namespaces.get(&id.namespace)?;
    state.pods.iter().find(|pod| pod.uid == id.uid)?.node.as_ref()
}

/// The nodes, without what pods that are there already will take before anybody of whom this decides.
fn rooms_beside_others<'a>(
    snapshot: &'a Snapshot,
    usage: &'a Usage<'a>,
    queue_states: &[Option<QueueState<'a>>],
) -> NodeResources<'a> {
    let mut node_resources = NodeResources::of(snapshot, usage);
    let asking: BTreeSet<_> = (queue_states.iter().flatten())
        .filter(|queue_state| yields(queue_state))
        .map(|queue_state| &queue_state.name.namespace)
        .collect();
    for (namespace, pod) in unbound(snapshot) {
        if !(asking.contains(namespace) && is_unschedulable(pod)) {
            let _node = node_resources.reserve(&pod.shape);
        }
    }
    node_resources
}
