//! Which of the owners of one object a pod belongs to.

use std::sync::Arc;

use quotient_snapshot::amounts::Amounts;
use quotient_snapshot::names::{Namespace, OwnerUid};
use quotient_snapshot::{Pod, PodMetadata, Shape};

use crate::index::Index;

/// The name of the owner at `at` of an object of this name.
pub(super) fn owner_name(name: &Arc<str>, at: usize) -> Arc<str> {
    if at == 0 { Arc::clone(name) } else { format!("{name}/{at}").into() }
}

/// The uid of the owner at `at` of an object with this uid.
pub(super) fn owner_uid(uid: &OwnerUid, at: usize) -> OwnerUid {
    if at == 0 { uid.clone() } else { OwnerUid::new(format!("{uid}{MARK}{at}")) }
}

/// What follows the uid of an object in the uid of an owner; no uid contains it.
const MARK: char = '#';

impl Index {
    /// `metadata`, of a pod with these requests, which name the object: with the owner that the pod belongs to.
    pub(crate) fn metadata_of_owner(
        &mut self,
        namespace: &Namespace,
        metadata: Arc<PodMetadata>,
        requests: &Amounts,
    ) -> Arc<PodMetadata> {
        let Some(owner) = &metadata.owner else { return metadata };
        let shapes = self.namespaces.get(namespace).and_then(|entry| entry.divided.get(&owner.uid));
        let at = shapes.and_then(|shapes| shapes.iter().position(|shape| shape.requests == *requests));
        let Some(at) = at.filter(|at| *at > 0) else { return metadata };
        self.metadata.get(with_owner(&metadata, owner_uid(&owner.uid, at)))
    }

    /// From now on the pods of the object with this uid belong to owners of these shapes. Says whether one belongs to
    /// another than before.
    pub(super) fn divide_pods(
        &mut self,
        namespace: &Namespace,
        uid: &OwnerUid,
        shapes: &[Arc<Shape>],
    ) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let former = if shapes.len() > 1 {
            entry.divided.insert(uid.clone(), shapes.to_owned()).unwrap_or_default()
        } else {
            entry.divided.remove(uid).unwrap_or_default()
        };
        if former == entry.divided.get(uid).cloned().unwrap_or_default() {
            return false;
        }
        let is_its = |pod: &&Pod| {
            let rest = pod.owner().and_then(|owner| owner.as_str().strip_prefix(uid.as_str()));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(MARK))
        };
        let pods: Vec<Pod> = entry.state().pods.iter().filter(is_its).cloned().collect();
        let mut changed = false;
        for pod in pods {
            let of_object = self.metadata.get(with_owner(&pod.metadata, uid.clone()));
            let metadata = self.metadata_of_owner(namespace, of_object, pod.requests());
            if metadata != pod.metadata
                && let Some(entry) = self.namespaces.get_mut(namespace)
            {
                changed |= entry.set_pod_metadata(pod.name.as_str(), metadata);
            }
        }
        changed
    }
}

fn with_owner(metadata: &PodMetadata, uid: OwnerUid) -> PodMetadata {
    let owner = metadata.owner.clone().map(|owner| quotient_snapshot::Workload { uid, ..owner });
    PodMetadata { owner, ..metadata.clone() }
}
