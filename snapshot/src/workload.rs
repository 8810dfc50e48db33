//! A workload: an object of the cluster that creates pods.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

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
