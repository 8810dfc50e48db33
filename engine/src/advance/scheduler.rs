//! A first-fit scheduler: enough of kube-scheduler to see whether freed room is used.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::amounts::Amounts;
use crate::census;
use crate::names::{Namespace, NodeName, PodUid};
use crate::plan::PodId;
use crate::snapshot::{Phase, Pod, Snapshot};

/// Binds pods that wait to the first node with room and starts them; also starts those that were bound.
///
/// Order: higher priority, then older, then by namespace and name. Resources are all that it looks at.
pub(super) fn bind(snapshot: &mut Snapshot) -> Vec<PodId> {
    let mut free = free_room(snapshot);
    let mut waiting: Vec<(Namespace, Pod)> = snapshot
        .namespaces
        .iter()
        .flat_map(|(name, state)| state.pods.iter().map(move |pod| (name, pod)))
        .filter(|(_, pod)| pod.phase == Phase::Pending && !pod.is_terminating())
        .map(|(name, pod)| (name.clone(), pod.clone()))
        .collect();
    waiting.sort_by(|(namespace_a, a), (namespace_b, b)| {
        let key = |pod: &Pod| (Reverse(pod.priority), pod.created);
        key(a).cmp(&key(b)).then_with(|| (namespace_a, &a.name, &a.uid).cmp(&(namespace_b, &b.name, &b.uid)))
    });

    let mut bound: BTreeMap<Namespace, BTreeMap<PodUid, NodeName>> = BTreeMap::new();
    let mut started = Vec::new();
    for (namespace, pod) in waiting {
        let node = if let Some(node) = &pod.node {
            node.clone()
        } else {
            let fitting = free.iter_mut().find(|(_, room)| pod.requests().fits_in(room));
            let Some((node, room)) = fitting else { continue };
            room.subtract_all(pod.requests());
            node.clone()
        };
        started.push(PodId { namespace: namespace.clone(), name: pod.name.clone(), uid: pod.uid.clone() });
        bound.entry(namespace).or_default().insert(pod.uid, node);
    }
    let now = snapshot.now;
    for (namespace, nodes) in bound {
        let Some(state) = snapshot.namespaces.get_mut(&namespace) else { continue };
        for pod in &mut Arc::make_mut(state).pods {
            if let Some(node) = nodes.get(&pod.uid) {
                pod.node = Some(node.clone());
                pod.phase = Phase::Running;
                pod.started = Some(now);
            }
        }
    }
    started.sort();
    started
}

/// What each node that counts has left, by name.
fn free_room(snapshot: &Snapshot) -> BTreeMap<NodeName, Amounts> {
    let census = census::take(snapshot);
    snapshot
        .nodes
        .iter()
        .filter(|(_, node)| node.counts)
        .map(|(name, node)| {
            let bound = census.bound_to.get(name).cloned().unwrap_or_default();
            (name.clone(), node.allocatable.less(&bound))
        })
        .collect()
}
