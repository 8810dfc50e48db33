//! The workloads of a namespace, as people know them.

use crate::keyed::KeyedMap;
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, Pod, Workload};

/// The workloads of a namespace, as people know them: the Deployment rather than its ReplicaSet.
#[derive(Debug)]
pub(crate) struct Workloads<'a> {
    /// What controls the owners that pods name.
    controllers: KeyedMap<&'a OwnerUid, &'a Workload>,
}

impl<'a> Workloads<'a> {
    pub(crate) fn of(state: &'a NamespaceState) -> Self {
        let owners = state.owners.iter();
        let controllers = owners.filter_map(|owner| Some((&owner.uid, &**owner.controller.as_ref()?)));
        Self { controllers: controllers.collect() }
    }

    /// The workload that created `pod`; none for a bare pod.
    pub(crate) fn of_pod(&self, pod: &'a Pod) -> Option<&'a Workload> {
        let owner = pod.metadata.owner.as_ref()?;
        Some(self.controllers.get(&owner.uid).copied().unwrap_or(owner))
    }
}
