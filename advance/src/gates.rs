//! A plan removes gates of pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_engine::names::{Namespace, PodUid};
use quotient_engine::plan::Plan;
use quotient_engine::snapshot::Snapshot;

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
