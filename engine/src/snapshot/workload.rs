//! A workload: an object of the cluster that creates pods.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::keyed::KeyedMap;

use super::{NamespaceState, Pod};
use crate::names::OwnerUid;

/// What creates pods, by itself or through objects that it controls: a Deployment, a Job, a `RayCluster`, ….
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Workload {
    /// Its API version, such as `apps/v1`.
    pub api_version: Arc<str>,
    /// Its kind, as manifests name it.
    pub kind: Arc<str>,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// Its id for life.
    pub uid: OwnerUid,
}

impl Workload {
    /// Whether it is an apps/v1 DaemonSet.
    pub fn is_daemon_set(&self) -> bool {
        &*self.kind == "DaemonSet" && self.api_version.starts_with("apps/")
    }
}

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
