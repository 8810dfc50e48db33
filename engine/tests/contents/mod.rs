//! What laws read in a snapshot and in its plan: queues with their paths, pods, and the sums of requests.

use std::collections::BTreeSet;
use std::iter::successors;
use std::sync::Arc;

use quotient_engine::amounts::{Amount, Amounts, Resource};
use quotient_engine::names::{Namespace, PodUid, QueueName};
use quotient_engine::plan::{Plan, QueuePlan};
use quotient_engine::snapshot::{Budget, NamespaceState, Phase, Pod, Queue, Snapshot};

/// Amounts of milli-cpu and MiB.
pub(crate) fn amounts(cpu: i128, memory: i128) -> Amounts {
    [(Resource::Cpu, Amount::new(cpu)), (Resource::Memory, Amount::new(memory << 20))].into_iter().collect()
}

/// The queues that govern pods.
pub(crate) fn leaves(plan: &Plan) -> impl Iterator<Item = (&QueueName, &QueuePlan)> {
    plan.queues.iter().filter(|(_, queue)| !queue.is_parent)
}

/// The queue of this name and those above it.
pub(crate) fn path<'a>(snapshot: &'a Snapshot, name: &QueueName) -> Vec<&'a Queue> {
    let find = |name: &QueueName| {
        snapshot.namespaces[&name.namespace].queues.iter().find(|queue| queue.name == name.name)
    };
    successors(find(name), |queue| find(queue.parent.as_ref()?)).collect()
}

/// Every pod with its namespace.
pub(crate) fn pods(snapshot: &Snapshot) -> impl Iterator<Item = (&Namespace, &Pod)> {
    snapshot.namespaces.iter().flat_map(|(name, state)| state.pods.iter().map(move |pod| (name, pod)))
}

/// What `pods` request together.
pub(crate) fn sum<'a>(pods: impl IntoIterator<Item = &'a Pod>) -> Amounts {
    pods.into_iter().fold(Amounts::new(), |mut sum, pod| {
        sum.add_all(pod.requests());
        sum
    })
}

/// What quota admission charges for the pods of a namespace.
pub(crate) fn charged(state: &NamespaceState) -> Amounts {
    sum(state.pods.iter().filter(|pod| pod.is_charged()))
}

/// Has `victims` terminate, in time. A pod that no longer counts is one disruption less that its budgets allow.
pub(crate) fn terminate(snapshot: &mut Snapshot, victims: &BTreeSet<PodUid>) {
    let end = snapshot.now.plus_seconds(30);
    for state in snapshot.namespaces.values_mut() {
        if !state.pods.iter().any(|pod| victims.contains(&pod.uid)) {
            continue;
        }
        let state = Arc::make_mut(state);
        for pod in state.pods.iter_mut().filter(|pod| victims.contains(&pod.uid)) {
            (pod.deletion, pod.evicted) = (Some(end), true);
            let protects = |budget: &&mut Budget| budget.selector.matches(&pod.metadata.labels);
            for budget in state.budgets.iter_mut().filter(protects) {
                budget.allowed = budget.allowed.saturating_sub(u32::from(pod.phase == Phase::Running));
            }
        }
    }
}
