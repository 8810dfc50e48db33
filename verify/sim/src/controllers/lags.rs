//! How fast the rest of the cluster is.

use crate::random::Lag;

/// How long each controller takes to notice a change, and nodes to start and stop a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lags {
    /// The quota controller: from `spec.hard` to `status.hard`, and from a pod that is gone to `status.used`.
    pub quota: Lag,
    /// How old the pods are that the quota controller counts: it has a cache of its own.
    pub quota_cache: Lag,
    /// How often the quota controller counts everything anew, in seconds; 0 for never.
    pub recounts: u64,
    /// From the charge of a pod to its storage: what admission takes.
    pub admission: Lag,
    /// The controllers of Jobs, ReplicaSets and StatefulSets.
    pub owners: Lag,
    /// The scheduler.
    pub scheduler: Lag,
    /// Kubelets.
    pub kubelet: Lag,
    /// From bound to ready.
    pub start: Lag,
    /// From told to end to ended, never longer than the grace.
    pub stop: Lag,
    /// The controller of disruption budgets.
    pub budget: Lag,
    /// Garbage collection and the end of namespaces.
    pub garbage: Lag,
}

impl Default for Lags {
    /// As measured on an idle real control plane, with pods that end within two seconds.
    fn default() -> Self {
        Self {
            quota: Lag::new(5, 40),
            quota_cache: Lag::new(0, 0),
            recounts: 0,
            admission: Lag::new(0, 0),
            owners: Lag::new(2, 20),
            scheduler: Lag::new(2, 15),
            kubelet: Lag::new(2, 20),
            start: Lag::new(100, 900),
            stop: Lag::new(100, 2000),
            budget: Lag::new(5, 50),
            garbage: Lag::new(20, 200),
        }
    }
}
