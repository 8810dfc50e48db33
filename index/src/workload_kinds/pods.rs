//! Which of the owners of one object a pod belongs to.

use std::sync::Arc;

use quotient_snapshot::amounts::Amounts;
use quotient_snapshot::names::{Namespace, OwnerUid};
use quotient_snapshot::{Pod, PodMetadata};

use crate::index::Index;
use crate::owner_references::MARK;
use crate::pod_requests::TemplateRequests;

/// The name of the owner at `at` of an object of this name.
pub(super) fn owner_name(name: &Arc<str>, at: usize) -> Arc<str> {
    if at == 0 { Arc::clone(name) } else { format!("{name}/{at}").into() }
}

/// The uid of the owner at `at` of an object with this uid.
pub(super) fn owner_uid(uid: &OwnerUid, at: usize) -> OwnerUid {
    if at == 0 { uid.clone() } else { OwnerUid::new(format!("{uid}{MARK}{at}")) }
}

impl Index {
    /// `metadata`, of a pod with these requests, which name the object: with the owner that the pod belongs to.
    pub(crate) fn metadata_of_owner(
        &mut self,
        namespace: &Namespace,
        metadata: Arc<PodMetadata>,
        requests: &Amounts,
    ) -> Arc<PodMetadata> {
        let Some(owner) = &metadata.owner else { return metadata };
        let templates = self.namespaces.get(namespace).and_then(|entry| entry.divided.get(&owner.uid));
        let at = templates.and_then(|templates| templates.iter().position(|one| one.fit(requests)));
        let Some(at) = at.filter(|at| *at > 0) else { return metadata };
        self.metadata.get(with_owner(&metadata, owner_uid(&owner.uid, at)))
    }

    /// From now on the pods of the object with this uid belong to owners of these templates. Says whether one belongs to
    /// another than before.
    pub(super) fn divide_pods(
        &mut self,
        namespace: &Namespace,
        uid: &OwnerUid,
        templates: Vec<TemplateRequests>,
    ) -> bool {
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let is_divided = templates.len() > 1;
        let is_same = entry.divided.get(uid) == Some(&templates).filter(|_| is_divided);
        if is_same {
            return false;
        }
        if is_divided {
            entry.divided.insert(uid.clone(), templates);
        } else {
            entry.divided.remove(uid);
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
