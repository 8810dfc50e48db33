//! What has happened before the first step: owners have created the pods that nothing keeps them from.
//!
//! Manifests describe a cluster at rest. Where a quota stands, an owner has as many pods as it admits; where no Queue
//! is, as many as it wants. In a namespace that has a Queue but no quota yet, it waits for the first step: the Queue
//! is as new as the owner.

use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_advance::advance;
use quotient_engine::names::PodUid;
use quotient_engine::plan::{Plan, PodId};
use quotient_engine::snapshot::{NamespaceState, Phase, Pod, Snapshot};

use crate::manifests::Cluster;

/// The cluster at the beginning of the first step.
#[derive(Debug)]
pub(super) struct Opening {
    pub(super) snapshot: Snapshot,
    /// The pods that are not in the manifests and run all the same, by namespace and name.
    pub(super) started: Vec<PodId>,
}

/// Lets owners create what they may; everything else stays as the manifests describe it.
pub(super) fn open(cluster: &Cluster) -> Opening {
    // One step without a plan, in a world in which nothing leaves: its new pods are the ones.
    let mut world = cluster.snapshot.clone();
    for state in world.namespaces.values_mut() {
        stay(state);
    }
    let later = advance(&world, &Plan::default()).snapshot;

    let mut snapshot = cluster.snapshot.clone();
    let mut started = Vec::new();
    for (namespace, state) in &mut snapshot.namespaces {
        let Some(after) = later.namespaces.get(namespace) else { continue };
        let known: BTreeSet<&PodUid> = state.pods.iter().map(|pod| &pod.uid).collect();
        let new: Vec<Pod> = after.pods.iter().filter(|pod| !known.contains(&pod.uid)).cloned().collect();
        if new.is_empty() {
            continue;
        }
        let running = new.iter().filter(|pod| pod.phase == Phase::Running);
        started.extend(running.map(|pod| PodId {
            namespace: namespace.clone(),
            name: pod.name.clone(),
            uid: pod.uid.clone(),
        }));
        Arc::make_mut(state).pods.extend(new);
        // No pod is created later than it is looked at, and none in the next step under the same name.
        snapshot.now = later.now;
    }
    if snapshot.now == later.now {
        cluster.controllers.follow(&mut snapshot);
    }
    started.sort();
    Opening { snapshot, started }
}

/// Has everything in the namespace stay but what its owners create.
fn stay(state: &mut Arc<NamespaceState>) {
    let waits = !state.queues.is_empty() && state.quota.is_none() && !state.owners.is_empty();
    let leaves = state.pods.iter().any(Pod::is_terminating);
    if waits || leaves {
        let state = Arc::make_mut(state);
        if waits {
            state.owners.clear();
        }
        state.pods.iter_mut().for_each(|pod| pod.deletion = None);
    }
}
