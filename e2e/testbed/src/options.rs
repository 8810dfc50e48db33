//! How a test bed is to be.

use std::time::Duration;

use super::Backup;

/// How often Kubernetes counts quotas anew by default.
pub const KUBERNETES_RECOUNTS: Duration = Duration::from_secs(300);

/// How a test bed is to be. The default is what most tests want.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// A name to find it by, from other processes too; without one it gets a unique name.
    pub name: Option<String>,
    /// How long a deleted pod keeps running before its pretended kubelet ends it. Zero by default: gone within
    /// milliseconds.
    pub termination_delay: Duration,
    /// Have the audit log hold pods and nodes with every write of them, for a replay of what happened: some
    /// 25 kB a pod.
    pub audit_bodies: bool,
    /// Serve Kubernetes' own PodGroups, which are not on by default, and have the Job controller make them for Indexed Jobs.
    pub pod_groups: bool,
    /// How often quotas are counted anew, every 15 seconds by default. Such a count may miss a pod that is created in that
    /// instant; see [`KUBERNETES_RECOUNTS`].
    pub recounts: Option<Duration>,
    /// What etcd holds at the beginning; nothing by default. It has to come from a test bed with the same
    /// [`pod_groups`](Self::pod_groups).
    pub beginning: Option<Backup>,
}
