//! A first-fit scheduler: enough of kube-scheduler to see whether freed room is used.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::PATIENCE_SECONDS;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::NodeName;
use quotient_engine::plan::PodId;
use quotient_engine::snapshot::{Phase, Placement, Pod, Snapshot};
use quotient_engine::time::Timestamp;

/// Binds pods that wait to nodes that count, have room and may run them, and starts them; also starts those that
/// were bound.
///
/// Order: higher priority, then older, then by namespace and name. Of the nodes the one that the pod prefers most, then
/// the first by name. What fits nowhere is reported unschedulable, and a bound pod that has not got on for long is
/// left as it is.
pub(super) fn bind(snapshot: &mut Snapshot) -> Vec<PodId> {
    let (mut free, now) = (free_room(snapshot), snapshot.now);
    let mut waiting = Vec::new();
    for (namespace, state) in &snapshot.namespaces {
        let all = state.pods.iter().enumerate();
        for (at, pod) in all.filter(|(_, pod)| waits(pod, now) && !pod.is_gated()) {
            let (namespace, name, uid) = (namespace.clone(), pod.name.clone(), pod.uid.clone());
            waiting.push((Reverse(pod.priority), pod.created, namespace, name, uid, at));
        }
    }
    waiting.sort();
    let mut started = Vec::new();
    for (_, _, namespace, _, _, at) in waiting {
        let state = snapshot.namespaces.get(&namespace);
        let Some(pod) = state.and_then(|state| state.pods.get(at)) else { continue };
        let node = pod.node.clone().or_else(|| place(snapshot, &mut free, pod));
        if node.is_none() && pod.stuck.is_some() {
            continue;
        }
        let state = snapshot.namespaces.get_mut(&namespace).map(Arc::make_mut);
        let Some(pod) = state.and_then(|state| state.pods.get_mut(at)) else { continue };
        if node.is_some() && pod.phase == Phase::Pending {
            started.push(PodId::of(&namespace, pod));
        }
        match node {
            Some(node) => start(pod, node, now),
            None => pod.stuck = Some(now),
        }
    }
    started.sort();
    started
}

/// Whether something may happen to the pod now: it waits for a node, to start, or to become Ready.
fn waits(pod: &Pod, now: Timestamp) -> bool {
    let hangs = |since: Timestamp| since.plus_seconds(PATIENCE_SECONDS) < now;
    let gets_on = pod.node.is_none() || !pod.stuck.is_some_and(hangs);
    let has_something_to_wait_for = match pod.phase {
        Phase::Pending => true,
        Phase::Running => pod.node.is_some() && pod.stuck.is_some(),
        Phase::Finished => false,
    };
    has_something_to_wait_for && gets_on && !pod.is_terminating()
}

fn start(pod: &mut Pod, node: NodeName, now: Timestamp) {
    pod.node = Some(node);
    pod.phase = Phase::Running;
    pod.started = pod.started.or(Some(now));
    pod.stuck = None;
}

/// Finds a node for the pod and takes its room.
fn place(snapshot: &Snapshot, free: &mut BTreeMap<NodeName, Amounts>, pod: &Pod) -> Option<NodeName> {
    let placement: &Placement = &pod.shape.placement;
    if !pod.shape.left_out.is_nothing() {
        return None;
    }
    let fitting = free.iter_mut().filter(|(_, room)| pod.requests().fits_in(room));
    let mut allowed = fitting.filter_map(|(name, room)| {
        let node = snapshot.nodes.get(name)?;
        let allows = placement.allows(name.as_str(), &node.labels, &node.taints);
        allows.then(|| (placement.preference(name.as_str(), &node.labels), name, room))
    });
    let first = allowed.next()?;
    // Most pods prefer nothing: then the first is as good as any, and the search ends.
    let (_, node, room) = if placement.preferred.is_empty() {
        first
    } else {
        allowed.fold(first, |best, other| if other.0 > best.0 { other } else { best })
    };
    room.subtract_all(pod.requests());
    Some(node.clone())
}

/// What each node that counts has left, by name.
fn free_room(snapshot: &Snapshot) -> BTreeMap<NodeName, Amounts> {
    let counting = snapshot.nodes.iter().filter(|(_, node)| node.counts);
    let mut free: BTreeMap<NodeName, Amounts> =
        counting.map(|(name, node)| (name.clone(), node.allocatable.clone())).collect();
    let pods = snapshot.namespaces.values().flat_map(|state| &state.pods);
    for pod in pods.filter(|pod| pod.is_charged()) {
        if let Some(free) = pod.node.as_ref().and_then(|node| free.get_mut(node)) {
            free.subtract_all(pod.requests());
        }
    }
    free.into_iter().map(|(name, free)| (name, free.less(&Amounts::new()))).collect()
}
