//! The DaemonSet controller: how many pods each DaemonSet wants.

use std::collections::BTreeSet;
use std::sync::Arc;

use k8s_openapi::api::apps::v1::DaemonSetStatus;
use quotient_engine::names::OwnerUid;
use quotient_engine::snapshot::{Owner, Snapshot, Taint};

use crate::objects::Object;

/// The taints that every pod of a DaemonSet tolerates begin with this: nodes that are not Ready, or not schedulable.
const TOLERATED: &str = "node.kubernetes.io/";

/// The DaemonSets of which the manifests do not say how many pods they want.
#[derive(Debug)]
pub(super) struct DaemonSets(BTreeSet<OwnerUid>);

impl DaemonSets {
    /// Has each of them want a pod on every node until [`count`](Self::count) knows which nodes their templates admit.
    pub(super) fn of(objects: &mut [Object]) -> Self {
        let nodes = objects.iter().filter(|object| matches!(object, Object::Node(_))).count();
        let nodes = i32::try_from(nodes).unwrap_or(i32::MAX);
        let mut uncounted = BTreeSet::new();
        for object in objects {
            let Object::DaemonSet(set) = object else { continue };
            if set.status.is_none() {
                set.status =
                    Some(DaemonSetStatus { desired_number_scheduled: nodes, ..DaemonSetStatus::default() });
                uncounted.extend(set.metadata.uid.as_deref().map(OwnerUid::new));
            }
        }
        Self(uncounted)
    }

    /// Counts the nodes that each of them selects.
    pub(super) fn count(&self, snapshot: &mut Snapshot) {
        let nodes = &snapshot.nodes;
        let wanted = |owner: &Owner| {
            let selected = nodes.iter().filter(|(name, node)| {
                let taints = node.taints.iter().filter(|taint| !taint.key.starts_with(TOLERATED));
                let taints: Vec<Taint> = taints.cloned().collect();
                owner.shape.placement.allows(name.as_str(), &node.labels, &taints)
            });
            u32::try_from(selected.count()).unwrap_or(u32::MAX)
        };
        for state in snapshot.namespaces.values_mut() {
            if state.owners.iter().any(|owner| self.0.contains(&owner.uid)) {
                let owners = &mut Arc::make_mut(state).owners;
                owners.iter_mut().filter(|owner| self.0.contains(&owner.uid)).for_each(|owner| {
                    owner.wanted = wanted(owner);
                });
            }
        }
    }
}
