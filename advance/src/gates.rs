//! Gates of pods: new pods of a queue in Gate mode get one, and a plan removes some.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::{Namespace, PodUid};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::{GatePosition, NamespaceState, OwnerKind, Snapshot};

/// Removes the gates that `plan` removes.
pub(super) fn remove(snapshot: &mut Snapshot, plan: &Plan) {
    let mut open: BTreeMap<&Namespace, BTreeSet<&PodUid>> = BTreeMap::new();
    for removal in &plan.gate_removals {
        open.entry(&removal.pod.namespace).or_default().insert(&removal.pod.uid);
    }
    for (namespace, pods) in open {
        let Some(state) = snapshot.namespaces.get_mut(namespace) else { continue };
        let gated = Arc::make_mut(state).pods.iter_mut().filter(|pod| pods.contains(&pod.uid));
        gated.for_each(|pod| pod.gate = None);
    }
}

/// The gate of a new pod of an owner of this kind.
pub(super) fn of_new_pod(state: &NamespaceState, kind: OwnerKind) -> Option<GatePosition> {
    let is_gated = state.is_in_gate_mode() && kind != OwnerKind::DaemonSet;
    is_gated.then(GatePosition::default)
}
