//! Inside a queue: workloads of a lower priority yield to pods that lack room (S-MCM), whatever kind of workload they are.
//!
//! ```text
//!  waiting, by priority       room in the queue             cheapest victims              workloads
//!  (refused, unschedulable, ─► and on a node? ──── no ────► of a strictly lower ────────► scaled down by as many,
//!   held back)                      │                       priority, on one node         former size remembered
//!                                   └─ yes: kept for them; what is held back and fits now is restored
//! ```
//!
//! Victims are chosen as between queues, in one simulation. Pods on their way out, and pods above the size of their workload,
//! count as gone. While pods of workloads that yielded leave, no other pod is chosen. Priorities do not change in a plan. No
//! workload yields to an equal. A workload that yields gets nothing in the same plan; once its pods are gone, others may yield
//! to it.
//!
//! Which pods go is up to the controllers of Kubernetes (`removal.rs`): only that of a ReplicaSet can be influenced. So a pod is
//! chosen together with all that its controller takes before it. Of a QueueJob its surplus goes, or all of it; its Jobs get
//! fewer slots (`planner/queue_jobs.rs`).

mod members;
mod pass;
pub(crate) mod removal;
mod report;
mod room;
mod rules;
mod waiting_units;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use crate::choice::{Context, Simulation, unbound};
use crate::leaf::Leaf;
use crate::names::{PodUid, QueueName};
use crate::nodes::NodeResources;
use crate::plan::{PassedOver, Plan, Preemptor, Scaling};
use crate::slots::CompetingPods;
use crate::snapshot::{Pod, Preemption};

use pass::Pass;
use waiting_units::{Kind, is_unschedulable, waiting_units};

/// What the division of slots among QueueJobs has to keep to.
#[derive(Debug, Default)]
pub(crate) struct YieldedSlots {
    /// The pods that lose their slots.
    pub(crate) pods: FxHashSet<PodUid>,
    /// The refused pods of other workloads that there is or will be room for.
    pub(crate) competing: BTreeMap<QueueName, Vec<CompetingPods>>,
}

/// What is to be done inside queues.
#[derive(Debug, Default)]
pub(crate) struct Yielded {
    /// The owners to scale.
    pub(crate) scalings: Vec<Scaling>,
    pub(crate) slots: YieldedSlots,
    /// The pods that a rule kept although pods of a higher priority lack room.
    pub(crate) passed_over: Vec<PassedOver>,
    /// The owners whose pods will have room once others are gone.
    pub(crate) promised: BTreeMap<QueueName, BTreeSet<Preemptor>>,
}

/// What `plan` leaves to do inside queues.
pub(crate) fn yielded(context: Context<'_>, plan: &Plan) -> Yielded {
    let mut yielded = Yielded::default();
    let mut seen: Option<(Evicted<'_, '_>, Simulation<'_>)> = None;
    for queue_state in context.queue_states() {
        let leaf = queue_state.leaf;
        if !(yields(leaf) || is_held_back(leaf)) {
            continue;
        }
        let mut waiting_units = waiting_units(leaf);
        // Where none yields, the room of pods that exist is kept already.
        waiting_units.retain(|waiting| waiting.kind != Kind::Unschedulable || yields(leaf));
        let Some(decided) = plan.queues.get(&leaf.name).filter(|_| !waiting_units.is_empty()) else {
            continue;
        };
        let (evicted, simulation) =
            seen.get_or_insert_with(|| (Evicted::of(context, plan), beside_others(context)));
        // What others give back for this queue leaves room on their nodes, too.
        for pod in evicted.of_beneficiary.get(&leaf.name).into_iter().flatten() {
            simulation.change_room(pod, true);
        }
        let may_take = plan.held.is_none() && yields(leaf);
        let mut pass = Pass::new(queue_state, decided, &evicted.all, simulation, may_take);
        pass.meet(&waiting_units);
        report::report(&pass, &waiting_units, &mut yielded);
    }
    yielded
}

/// Whether owners of the queue yield to others of it.
fn yields(leaf: &Leaf<'_>) -> bool {
    leaf.queue.preemption == Preemption::LowerPriority
}

/// Whether an owner that yielded waits for its size, also where none yields any more.
fn is_held_back(leaf: &Leaf<'_>) -> bool {
    leaf.state.owners.iter().any(|owner| owner.size.original_replicas.is_some())
}

/// The pods that go for other queues.
struct Evicted<'a, 'p> {
    all: FxHashSet<&'p PodUid>,
    of_beneficiary: BTreeMap<&'p QueueName, Vec<&'a Pod>>,
}

impl<'a, 'p> Evicted<'a, 'p> {
    fn of(context: Context<'a>, plan: &'p Plan) -> Self {
        let evictions = || plan.evictions.iter().chain(&plan.waiting);
        let all: FxHashSet<&PodUid> = evictions().map(|eviction| &eviction.pod.uid).collect();
        let losing: BTreeSet<_> = evictions().map(|eviction| &eviction.pod.namespace).collect();
        let pods = losing.into_iter().filter_map(|name| context.snapshot.namespaces.get(name));
        let pods = pods.flat_map(|state| &state.pods).filter(|pod| all.contains(&pod.uid));
        let by_uid: BTreeMap<&PodUid, &'a Pod> = pods.map(|pod| (&pod.uid, pod)).collect();
        let mut of_beneficiary: BTreeMap<&QueueName, Vec<&'a Pod>> = BTreeMap::new();
        for eviction in evictions() {
            if let Some((beneficiary, pod)) = eviction.beneficiary.as_ref().zip(by_uid.get(&eviction.pod.uid))
            {
                of_beneficiary.entry(beneficiary).or_default().push(pod);
            }
        }
        Self { all, of_beneficiary }
    }
}

/// The cluster, without what pods will take that are there already and wait for nothing here.
fn beside_others(context: Context<'_>) -> Simulation<'_> {
    let mut node_resources = NodeResources::settled(context.usage);
    let yielding = context.each_leaf().filter(|leaf| yields(leaf));
    let losing: BTreeSet<_> = yielding.map(|leaf| &leaf.name.namespace).collect();
    for (namespace, pod) in unbound(context.snapshot) {
        if !(losing.contains(namespace) && is_unschedulable(pod)) {
            let _node = node_resources.reserve(&pod.shape);
        }
    }
    let mut simulation = Simulation::new(context);
    simulation.node_resources = node_resources;
    simulation
}
