//! The steps: settle the quotas, carry the plan out, look again.

use std::collections::BTreeMap;

use quotient_engine::advance::{Advanced, advance, settle};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Plan, PodId};
use quotient_engine::snapshot::Snapshot;

/// No cluster that comes to rest needs as many; one that has not by then is shown to be unstable.
const MOST_STEPS: usize = 1000;

/// What happened, step by step.
#[derive(Debug)]
pub(crate) struct Simulation {
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
    /// The weights of the queues in it.
    pub(crate) weights: BTreeMap<QueueName, u32>,
    /// The pods that started after the evicted ones had gone.
    pub(crate) started: Vec<PodId>,
}

/// Simulates one step, or as many as it takes until nothing happens any more.
///
/// A step in which no pod is evicted, starts or is on its way out is the last: the next would be the same.
pub(crate) fn simulate(snapshot: &Snapshot, until_stable: bool) -> Simulation {
    let most = if until_stable { MOST_STEPS } else { 1 };
    let mut steps = Vec::new();
    let mut stable = false;
    let mut snapshot = snapshot.clone();
    while steps.len() < most && !stable {
        let (settled, plan) = settle(&snapshot);
        let Advanced { snapshot: next, started } = advance(&settled, &plan);
        stable = plan.evictions.is_empty() && started.is_empty() && !has_leaving_pods(&settled);
        steps.push(Step { weights: weights(&settled), plan, started });
        snapshot = next;
    }
    Simulation { steps, stable }
}

fn has_leaving_pods(snapshot: &Snapshot) -> bool {
    let mut pods = snapshot.namespaces.values().flat_map(|state| &state.pods);
    pods.any(|pod| pod.is_terminating() && pod.is_charged())
}

fn weights(snapshot: &Snapshot) -> BTreeMap<QueueName, u32> {
    let namespaces = snapshot.namespaces.iter();
    let queues =
        namespaces.flat_map(|(namespace, state)| state.queues.iter().map(move |queue| (namespace, queue)));
    queues
        .map(|(namespace, queue)| (QueueName::new(namespace.clone(), queue.name.clone()), queue.weight))
        .collect()
}
