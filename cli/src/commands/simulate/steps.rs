//! The steps: settle the quotas, carry the plan out, look again.
//!
//! Manifests describe a cluster at rest, so owners have created before the first step what nothing keeps them from. Where a
//! quota stands, an owner has as many pods as it admits; where no Queue is, as many as it wants. In a namespace that has a
//! Queue but no quota yet, it waits for the first step: the Queue is as new as the owner.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_advance::{Advanced, advance, advance_until, settle};
use quotient_engine::names::{PodUid, QueueName};
use quotient_engine::plan::{Plan, PodId, QueueJobPlan};
use quotient_engine::snapshot::{NamespaceState, Phase, Pod, Queue, Remembered, Snapshot};

use crate::manifests::Cluster;

/// No cluster that comes to rest needs as many; one that has not by then is shown to be unstable.
const MOST_STEPS: usize = 1000;

/// What happened, step by step.
#[derive(Debug)]
pub(crate) struct Simulation {
    /// The pods that owners started before the first step, within quotas that stand.
    pub(crate) before: Vec<PodId>,
    /// At least one.
    pub(crate) steps: Vec<Step>,
    /// Whether nothing would happen after the last step.
    pub(crate) stable: bool,
}

/// One round of the operator, and what the cluster did with it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Shares, quotas in force, and the pods that are evicted.
    pub(crate) plan: Plan,
    /// How long after the first step it is, in seconds.
    pub(crate) elapsed_seconds: i64,
    /// The weights of the queues in it.
    pub(crate) weights: BTreeMap<QueueName, u32>,
    /// The pods that started after the evicted ones had gone.
    pub(crate) started: Vec<PodId>,
}

/// Simulates one step, or as many as it takes until nothing happens any more.
///
/// Where nothing but the time would be other after a step, the next one is when the engine would decide otherwise only
/// because of the time. A step for which there is no such time is the last: the next would be the same. Steps in which
/// nothing can be seen to happen are passed over.
pub(crate) fn simulate(cluster: &Cluster, until_stable: bool) -> Simulation {
    let most = if until_stable { MOST_STEPS } else { 1 };
    // Manifests describe a cluster at rest; what a real one is about to create, it has not created yet.
    let (mut snapshot, before) =
        if cluster.is_observed { (cluster.snapshot.clone(), Vec::new()) } else { open(cluster) };
    let begun = snapshot.now;
    let mut steps: Vec<Step> = Vec::new();
    let mut stable = false;
    for _ in 0..MOST_STEPS {
        if stable || steps.len() >= most && steps.last().is_some_and(Step::moves) {
            break;
        }
        let (settled, plan) = settle(&snapshot);
        let mut advanced = advance(&settled, &plan);
        cluster.controllers.follow(&mut advanced.snapshot);
        stable = advanced.rests(&settled);
        if stable && let Some(time) = plan.next_change.filter(|time| *time > settled.now) {
            advanced = advance_until(&settled, &plan, time);
            cluster.controllers.follow(&mut advanced.snapshot);
            stable = false;
        }
        let Advanced { snapshot: next, started } = advanced;
        let elapsed_seconds = settled.now.millis_since(begun).div_euclid(1000);
        let step = Step { plan: without_memory(plan), elapsed_seconds, weights: weights(&settled), started };
        if steps.last().is_none_or(|last| last.moves() || last.plan != step.plan) {
            if steps.len() >= most {
                stable = false;
                break;
            }
            steps.push(step);
        }
        snapshot = next;
    }
    Simulation { before, steps, stable }
}

impl Step {
    /// Whether a pod goes or starts, or slots do.
    fn moves(&self) -> bool {
        !self.plan.evictions.is_empty()
            || !self.plan.shortened.is_empty()
            || !self.plan.scalings.is_empty()
            || !self.started.is_empty()
            || self.plan.queue_jobs.values().any(QueueJobPlan::moves)
    }
}

/// What a decision leaves to the next one is not shown.
fn without_memory(mut plan: Plan) -> Plan {
    (plan.next_change, plan.next_try) = (None, None);
    for queue in plan.queues.values_mut() {
        queue.remember = Remembered::default();
    }
    plan
}

fn weights(snapshot: &Snapshot) -> BTreeMap<QueueName, u32> {
    let queues = snapshot.namespaces.iter().flat_map(|(namespace, state)| {
        let name = |queue: &Queue| QueueName::new(namespace.clone(), queue.name.clone());
        state.queues.iter().map(move |queue| (name(queue), queue.weight))
    });
    queues.collect()
}

/// Lets owners create what they may; everything else stays as the manifests describe it.
///
/// Returns the cluster at the beginning of the first step, and the pods that are not in the manifests and run all the same, by
/// namespace and name.
pub(super) fn open(cluster: &Cluster) -> (Snapshot, Vec<PodId>) {
    // One step without a plan, in a world in which nothing leaves: its new pods are the ones.
    let mut world = cluster.snapshot.clone();
    for state in world.namespaces.values_mut() {
        stay(state);
    }
    let later = advance(&world, &Plan::default()).snapshot;

    let mut snapshot = cluster.snapshot.clone();
    let mut started = Vec::new();
    for (namespace, state) in &mut snapshot.namespaces {
        let Some(after) = later.namespaces.get(namespace) else { continue };
        let known: BTreeSet<&PodUid> = state.pods.iter().map(|pod| &pod.uid).collect();
        let new: Vec<Pod> = after.pods.iter().filter(|pod| !known.contains(&pod.uid)).cloned().collect();
        if new.is_empty() {
            continue;
        }
        let running = new.iter().filter(|pod| pod.phase == Phase::Running);
        started.extend(running.map(|pod| PodId::of(namespace, pod)));
        Arc::make_mut(state).pods.extend(new);
        // No pod is created later than it is looked at, and none in the next step under the same name.
        snapshot.now = later.now;
    }
    if snapshot.now == later.now {
        cluster.controllers.follow(&mut snapshot);
    }
    started.sort();
    (snapshot, started)
}

/// Has everything in the namespace stay but what its owners create.
fn stay(state: &mut Arc<NamespaceState>) {
    let waits = !state.queues.is_empty() && state.quota.is_none() && !state.owners.is_empty();
    let leaves = state.pods.iter().any(Pod::is_terminating);
    if waits || leaves {
        let state = Arc::make_mut(state);
        if waits {
            state.owners.clear();
        }
        state.pods.iter_mut().for_each(|pod| pod.deletion = None);
    }
}
