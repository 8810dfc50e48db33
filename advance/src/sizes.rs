//! Owners are scaled.

use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_engine::names::PodUid;
use quotient_engine::plan::{Plan, Scaling};
use quotient_engine::snapshot::{NamespaceState, Snapshot};

/// Marks pods and writes sizes as `plan` says.
pub(super) fn change(snapshot: &mut Snapshot, plan: &Plan) {
    for scaling in &plan.scalings {
        if let Some(state) = snapshot.namespaces.get_mut(&scaling.queue.namespace) {
            scale(Arc::make_mut(state), scaling);
        }
    }
}

fn scale(state: &mut NamespaceState, scaling: &Scaling) {
    let Some(owner) = state.owners.iter_mut().find(|owner| owner.uid == scaling.owner) else { return };
    if owner.size.written != scaling.from {
        return;
    }
    // Of a Job that is nearly done fewer pods are wanted than are written, whatever is written.
    let rightful = owner.rightful();
    let left =
        if rightful < owner.size.original_replicas.unwrap_or(scaling.from) { rightful } else { u32::MAX };
    owner.wanted = scaling.to.min(left);
    owner.size.withheld_replicas =
        scaling.original_replicas.unwrap_or(scaling.to).min(left).saturating_sub(owner.wanted);
    (owner.size.written, owner.size.original_replicas) = (scaling.to, scaling.original_replicas);
    for (pods, cost) in [(&scaling.marks, Scaling::MARK), (&scaling.lifts, 0)] {
        let uids: BTreeSet<&PodUid> = pods.iter().map(|pod| &pod.uid).collect();
        for pod in state.pods.iter_mut().filter(|pod| uids.contains(&pod.uid)) {
            pod.deletion_cost = cost;
        }
    }
}
