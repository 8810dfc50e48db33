//! A pod: what it requests, where it stands in life, and what protects it.

use std::sync::Arc;

use crate::amounts::Amounts;
use crate::names::{NodeName, OwnerUid, PodName, PodUid};
use crate::time::Timestamp;

/// What the engine needs to know of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its id for life.
    pub uid: PodUid,
    /// Its name.
    pub name: PodName,
    /// Its effective requests, shared by all pods of the same shape.
    pub requests: Arc<Amounts>,
    /// The node that it is bound to.
    pub node: Option<NodeName>,
    /// How far it has come.
    pub phase: Phase,
    /// Its priority as admission resolved it.
    pub priority: i32,
    /// When it was created.
    pub created: Timestamp,
    /// When its containers first started, as the kubelet reported.
    pub started: Option<Timestamp>,
    /// When it has to be gone, once somebody asked for its deletion.
    pub deletion: Option<Timestamp>,
    /// Why it must never be a victim, if so.
    pub immunity: Option<Immunity>,
    /// Whether it asks to be left alone while others suffice: `quotient.dev/preemptible: last` and the like.
    pub reluctant: bool,
    /// Its controller; without one nobody recreates it.
    pub owner: Option<OwnerUid>,
}

/// How far a pod has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Accepted, not all containers started.
    Pending,
    /// At least one container started.
    Running,
    /// Succeeded or Failed: it holds and is charged nothing.
    Finished,
}

/// Why a pod is never a victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Immunity {
    /// A mirror of a static pod: the kubelet would only start it again.
    Mirror,
    /// Of a DaemonSet: it would only come back.
    DaemonSet,
    /// Of a `system-cluster-critical` or `system-node-critical` priority class.
    SystemCritical,
}

impl Pod {
    /// Whether it holds what it requests: everything but finished pods, terminating ones included.
    pub fn is_charged(&self) -> bool {
        self.phase != Phase::Finished
    }

    /// Whether somebody asked for its deletion.
    pub const fn is_terminating(&self) -> bool {
        self.deletion.is_some()
    }
}
