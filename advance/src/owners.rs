//! Owners bring their pods to the number that they want, as far as quotas admit.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_engine::amounts::Amounts;
use quotient_engine::names::{Namespace, PodName, PodUid};
use quotient_engine::snapshot::{
    GatePosition, NamespaceState, Owner, OwnerKind, Pod, PodMetadata, Preemption, Snapshot,
};
use quotient_engine::time::Timestamp;
use quotient_engine::{ordinal, removal_order};

/// How many pods an owner creates in one step, as its controller does in one go: a manifest may ask for two thousand
/// million.
const MOST_AT_ONCE: u32 = 500;

/// Deletes what owners have too many of, and creates what they lack, oldest owner first.
///
/// `before` is the world at the beginning of the step: new pods take after those that the owner had then.
pub(super) fn reconcile(snapshot: &mut Snapshot, before: &Snapshot) {
    let now = snapshot.now;
    for (name, state) in &mut snapshot.namespaces {
        if state.owners.is_empty() {
            continue;
        }
        let surplus = surplus(state);
        if !surplus.is_empty() {
            Arc::make_mut(state).pods.retain(|pod| !surplus.contains(&pod.uid));
        }
        let siblings = before.namespaces.get(name).map(|before| before.pods.as_slice()).unwrap_or_default();
        let created = created(name, state, siblings, now);
        if !created.is_empty() {
            Arc::make_mut(state).pods.extend(created);
        }
    }
}

/// The pods that owners have too many of, as their controllers choose them.
fn surplus(state: &NamespaceState) -> BTreeSet<PodUid> {
    let mut surplus = BTreeSet::new();
    for owner in &state.owners {
        let live: Vec<&Pod> =
            state.pods.iter().filter(|pod| pod.is_live() && pod.owner() == Some(&owner.uid)).collect();
        let too_many =
            live.len().saturating_sub(usize::try_from(at_once(state, owner)).unwrap_or(usize::MAX));
        if too_many > 0 {
            let first = removal_order(owner.kind, live).into_iter().take(too_many);
            surplus.extend(first.map(|pod| pod.uid.clone()));
        }
    }
    surplus
}

/// The pods that owners create now.
///
/// In a namespace that is being deleted the API server creates none.
///
/// Their uids end in the time and their place among all that the namespace creates then, so none is ever used twice. So do their
/// names, but for those of a StatefulSet: they end in its lowest free ordinals.
fn created(namespace: &Namespace, state: &NamespaceState, siblings: &[Pod], now: Timestamp) -> Vec<Pod> {
    if state.terminating {
        return Vec::new();
    }
    let mut owners: Vec<&Owner> = state.owners.iter().collect();
    // Controllers know of no priority; but a workload for which room was made inside a queue is requeued first.
    let by_priority = state.queues.iter().any(|queue| queue.preemption == Preemption::LowerPriority);
    let priority = |owner: &Owner| Reverse(if by_priority { owner.priority } else { 0 });
    owners.sort_by_key(|owner| (priority(owner), owner.created, owner.kind, &owner.name, &owner.uid));
    let mut charged = Amounts::new();
    state.pods.iter().filter(|pod| pod.is_charged()).for_each(|pod| charged.add_all(pod.requests()));
    let mut created = Vec::new();
    for owner in owners.into_iter().filter(|owner| owner.rejection(state.quota.as_ref()).is_none()) {
        let missing = at_once(state, owner).saturating_sub(standing(owner, &state.pods)).min(MOST_AT_ONCE);
        let mut ordinals = free_ordinals(owner, &state.pods);
        for _ in 0..missing {
            if !admits(state, &charged, &owner.shape.requests) {
                break;
            }
            charged.add_all(&owner.shape.requests);
            let mut pod = new_pod(namespace, owner, siblings, now, created.len());
            if let Some(ordinal) = ordinals.as_mut().and_then(Iterator::next) {
                pod.name = PodName::new(format!("{}-{ordinal}", owner.name));
            }
            let is_gated = state.is_in_gate_mode() && owner.kind != OwnerKind::DaemonSet;
            created.push(Pod { gate: is_gated.then(GatePosition::default), ..pod });
        }
    }
    created
}

/// How many pods an owner may have now: a task of a QueueJob as many as its Job may run.
fn at_once(state: &NamespaceState, owner: &Owner) -> u32 {
    if owner.kind != OwnerKind::QueueJob {
        return owner.wanted;
    }
    let tasks = state.queue_jobs.iter().flat_map(|job| &job.tasks);
    let mut of_owner = tasks.filter(|task| task.owner == owner.uid);
    of_owner.next().map_or(0, |task| task.parallelism.min(owner.wanted))
}

/// How many of its pods an owner counts. A StatefulSet and a DaemonSet wait until a pod is gone before they create it anew.
fn standing(owner: &Owner, pods: &[Pod]) -> u32 {
    let counts = |pod: &&Pod| {
        // A Job with a pod failure policy waits, too, until a pod has ended before it replaces it.
        let waits = matches!(owner.kind, OwnerKind::StatefulSet | OwnerKind::DaemonSet | OwnerKind::QueueJob);
        let there = if waits { pod.is_charged() } else { pod.is_live() };
        there && pod.owner() == Some(&owner.uid)
    };
    u32::try_from(pods.iter().filter(counts).count()).unwrap_or(u32::MAX)
}

/// The ordinals that no pod of a StatefulSet has, lowest first; none for other owners.
fn free_ordinals(owner: &Owner, pods: &[Pod]) -> Option<impl Iterator<Item = u32>> {
    let of_owner = pods.iter().filter(|pod| pod.owner() == Some(&owner.uid));
    let taken = || of_owner.filter_map(ordinal).collect::<BTreeSet<u32>>();
    let taken = (owner.kind == OwnerKind::StatefulSet).then(taken)?;
    Some((0..).filter(move |ordinal| !taken.contains(ordinal)))
}

/// Whether quota admission lets a pod in: of everything that it requests, there has to be room in every quota.
fn admits(state: &NamespaceState, charged: &Amounts, requests: &Amounts) -> bool {
    requests.iter().all(|(resource, requested)| {
        let ours = state.quota.as_ref().and_then(|quota| quota.enforced.get(resource));
        let bounds = [ours, state.foreign_quotas.get(resource)];
        bounds.into_iter().flatten().all(|bound| charged.get(resource) + requested <= bound)
    })
}

/// A pod as `owner` creates it. The owner's template is known by its shape only; what else its pods have in common
/// is taken from one of them.
fn new_pod(namespace: &Namespace, owner: &Owner, siblings: &[Pod], now: Timestamp, number: usize) -> Pod {
    let of_owner = siblings.iter().filter(|pod| pod.owner() == Some(&owner.uid));
    let sibling = of_owner.min_by_key(|pod| &pod.uid);
    let metadata = PodMetadata {
        owner: Some(owner.as_named_by_pods()),
        gang: owner.gang.clone(),
        labels: sibling.map(|pod| pod.metadata.labels.clone()).unwrap_or_default(),
    };
    let shared = sibling.map(|pod| &pod.metadata).filter(|shared| ***shared == metadata);
    let name = format!("{}-r{}-{number}", owner.as_named_by_pods().name, now.millis().div_euclid(1000));
    Pod {
        uid: PodUid::new(format!("{namespace}/{name}")),
        name: PodName::new(name),
        shape: Arc::clone(&owner.shape),
        metadata: shared.map_or_else(|| Arc::new(metadata), Arc::clone),
        priority: owner.priority,
        created: now,
        do_not_disrupt: sibling.is_some_and(|pod| pod.do_not_disrupt),
        ..Pod::default()
    }
}
