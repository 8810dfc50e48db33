//! Which gates are removed now.

use super::GatedNamespaces;
use super::unit::GatedUnit;
use crate::amounts::Amounts;
use crate::cluster::Cluster;
use crate::leaf::{IncompleteGangs, Leaf};
use crate::names::Namespace;
use crate::plan::{GateRemoval, Plan, PodId};
use crate::snapshot::{Mode, NamespaceState, Pod, Snapshot};

/// The gates to remove by `plan`, in this order, queue by queue.
///
/// In Gate mode no more than what the queue is allocated leaves room for. Where no queue in Gate mode governs the namespace
/// any more, all of them: nothing stays gated. That a Queue is gone is certain only once the API server has confirmed it. A
/// queue in Gate mode without a share keeps its pods waiting, because a mistake in a spec must not let in more pods than the
/// spec before.
pub(crate) fn removals(
    snapshot: &Snapshot,
    gated: &GatedNamespaces<'_>,
    cluster: Cluster<'_>,
    plan: &Plan,
) -> Vec<GateRemoval> {
    if snapshot.settings.mode < Mode::Quota {
        return Vec::new();
    }
    let mut removals = Vec::new();
    for (name, state) in &snapshot.namespaces {
        let leaf = cluster.leaf_in(name);
        match (gated.get(name), leaf) {
            (Some(gated), Some(leaf)) => removals.extend(within_share(gated, leaf, plan)),
            (None, None) if state.is_in_gate_mode() => {}
            // A pod is gated for a Queue, and may be seen before the Queue is.
            (None, None) if state.governing().is_none() && !state.vacant => {}
            (_, Some(leaf)) if leaf.namespace_usage.pods.pending == 0 => {}
            _ => removals.extend(all(name, state)),
        }
    }
    removals
}

/// Every gate in a namespace, by age.
fn all(namespace: &Namespace, state: &NamespaceState) -> Vec<GateRemoval> {
    let mut pods: Vec<&Pod> = state.gated_pods().collect();
    pods.sort_by(|a, b| Pod::by_age(a, b));
    pods.into_iter().filter_map(|pod| removal(namespace, pod)).collect()
}

/// The gates that the amounts allocated to the queue of `leaf` have room for.
///
/// Room that a unit waits for, and that the target has for it, is kept from the units after it: a gang would wait for ever
/// behind single pods. Of resources that it does not request the others take what they need.
fn within_share(gated: &NamespaceState, leaf: &Leaf<'_>, plan: &Plan) -> Vec<GateRemoval> {
    let Some(queue) = plan.queues.get(&leaf.name) else { return Vec::new() };
    let used = &leaf.namespace_usage.charged;
    let left = |all: &Amounts| {
        let mut left = all.of(&plan.resources);
        left.subtract_all(&used.of(&plan.resources));
        left
    };
    let mut room = left(&queue.allocated);
    let mut coming = left(&queue.allocated.max(&queue.target));
    let (mut removals, mut incomplete) = (Vec::new(), IncompleteGangs::default());
    for unit in GatedUnit::all(gated.gated_pods(), leaf, &plan.resources) {
        if incomplete.lacks_minimum(unit.part.as_ref()) {
            continue;
        }
        let has_room = unit.requests.times_in(&room, 1) > 0;
        let is_admitted = incomplete.given(unit.part.as_ref(), 1, has_room.into()) > 0;
        if is_admitted {
            removals.extend(unit.pods.iter().filter_map(|pod| removal(&leaf.name.namespace, pod)));
        }
        if is_admitted || (unit.fits_node && unit.requests.times_in(&coming, 1) > 0) {
            room.subtract_all(&unit.requests);
            coming.subtract_all(&unit.requests);
        }
    }
    removals
}

fn removal(namespace: &Namespace, pod: &Pod) -> Option<GateRemoval> {
    Some(GateRemoval { pod: PodId::of(namespace, pod), position: pod.gate? })
}
