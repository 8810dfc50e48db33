//! Pods leave: evicted, deleted, finished.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::PATIENCE_SECONDS;
use super::budgets;
use quotient_engine::names::{Namespace, PodUid};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{Phase, Pod, Snapshot};
use quotient_engine::time::Timestamp;

/// Removes the pods that leave in a step.
///
/// An evicted pod is gone at once, as is one that is deleted without grace. A terminating one is, unless it is so
/// long past its deadline that whatever holds it will go on doing so. An eviction that a disruption budget forbids is
/// refused, as by the API server, and remembered until the next step.
pub(super) fn remove(snapshot: &mut Snapshot, plan: &Plan) {
    let now = snapshot.now;
    let mut evicted: BTreeMap<&Namespace, Vec<&PodUid>> = BTreeMap::new();
    for eviction in &plan.evictions {
        evicted.entry(&eviction.pod.namespace).or_default().push(&eviction.pod.uid);
    }
    let forced = plan.shortened.iter().filter(|eviction| eviction.grace_seconds == Some(0));
    let forced: BTreeSet<&PodUid> = forced.map(|eviction| &eviction.pod.uid).collect();
    for (name, state) in &mut snapshot.namespaces {
        let asked = evicted.get(name).map(Vec::as_slice).unwrap_or_default();
        let (granted, refused) = budgets::decide(state, asked);
        if state.refused != refused {
            Arc::make_mut(state).refused = refused;
        }
        let stays = |pod: &Pod| {
            !granted.contains(&pod.uid) && !forced.contains(&pod.uid) && !goes_by_itself(pod, now)
        };
        if !state.pods.iter().all(stays) {
            Arc::make_mut(state).pods.retain(stays);
        }
    }
}

fn goes_by_itself(pod: &Pod, now: Timestamp) -> bool {
    let in_time = |deadline: Timestamp| deadline.plus_seconds(PATIENCE_SECONDS) >= now;
    pod.phase == Phase::Finished || pod.deletion.is_some_and(in_time)
}
