//! A pod: what it requests, where it stands in life, and what protects it.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Gang, GatePosition, PodMetadata, Shape, Workload};
use crate::amounts::Amounts;
use crate::names::{NodeName, OwnerUid, PodName, PodUid};
use crate::reasons::KeptReason;
use crate::time::Timestamp;

/// What the engine needs to know of a pod.
///
/// There are a hundred thousand of these: what pods have in common is shared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the pod")]
pub struct Pod {
    /// Its id for life.
    pub uid: PodUid,
    /// Its name.
    pub name: PodName,
    /// What it requests and where it may run.
    pub shape: Arc<Shape>,
    /// Its owner and gang.
    pub metadata: Arc<PodMetadata>,
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
    /// When it has to be gone, once its deletion was requested.
    pub deletion: Option<Timestamp>,
    /// How many seconds it was given to end when its deletion was asked for; 0 also where that has not been seen yet.
    pub deletion_seconds: u32,
    /// Whether it was evicted, by Quotient or another client: then its owner did not delete it.
    pub evicted: bool,
    /// Since when it does not get on: reported unschedulable while it has no node, not Ready once it has one.
    /// `None` for a pod that is Ready or of which the scheduler has said nothing yet.
    pub stuck: Option<Timestamp>,
    /// The gate that holds it until its queue has room; none once that is removed.
    pub gate: Option<GatePosition>,
    /// Whether the kubelet reports that a container crashes or cannot start: a back-off, no image, a wrong configuration.
    pub failing: bool,
    /// Why it is never evicted, whatever its queue: it mirrors a static pod, or runs a virtual machine.
    pub kept: Option<KeptReason>,
    /// Whether it asks to be left alone while others suffice: `quotient.dev/preemptible: last` and the like.
    pub do_not_disrupt: bool,
    /// Whether its deletion was asked for without any grace: nothing is left to do but to wait.
    pub forced: bool,
    /// `controller.kubernetes.io/pod-deletion-cost`: of its ReplicaSet's Ready pods, those with the lowest are removed
    /// first.
    pub deletion_cost: i32,
    /// How long it may take to end, by its own spec (`terminationGracePeriodSeconds`); 18 hours stand for all that is longer,
    /// so that a pod takes no more memory.
    pub grace_seconds: u16,
}

/// How long a scheduler may say nothing of a pod before the pod counts as one that does not get on.
const UNHEARD_SECONDS: i64 = 60;

/// How far a pod has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    /// Accepted, not all containers started.
    #[default]
    Pending,
    /// At least one container started.
    Running,
    /// Succeeded or Failed: it holds and is charged nothing.
    Finished,
}

impl Pod {
    /// What it requests.
    #[inline]
    pub fn requests(&self) -> &Amounts {
        &self.shape.requests
    }

    /// From when on it does not get on although nothing is reported of it: a foreign scheduling gate holds it, or its scheduler
    /// does not run. None for a pod that has a node, that is reported, or that waits for its queue.
    #[inline]
    pub fn unheard_from(&self) -> Option<Timestamp> {
        let is_unheard = self.stuck.is_none()
            && self.node.is_none()
            && self.gate.is_none()
            && self.phase == Phase::Pending;
        is_unheard.then(|| self.created.plus_seconds(UNHEARD_SECONDS))
    }

    /// Since when it does not get on, at `now`: as reported, or because no scheduler looks at it.
    #[inline]
    pub fn stuck_since(&self, now: Timestamp) -> Option<Timestamp> {
        self.stuck.or_else(|| self.unheard_from().filter(|from| *from <= now))
    }

    /// Its controller; without one it is not recreated.
    #[inline]
    pub fn owner(&self) -> Option<&OwnerUid> {
        self.metadata.owner.as_ref().map(|owner| &owner.uid)
    }

    /// Whether a DaemonSet controls it, which creates it again on the same node.
    #[inline]
    pub fn is_of_daemon_set(&self) -> bool {
        self.metadata.owner.as_ref().is_some_and(Workload::is_daemon_set)
    }

    /// The gang that it is a member of, if its size is known.
    #[inline]
    pub fn gang(&self) -> Option<&Gang> {
        self.metadata.gang.as_ref().filter(|gang| gang.min_available > 0)
    }

    /// Whether it holds what it requests: everything but finished pods, terminating ones included.
    #[inline]
    pub fn is_charged(&self) -> bool {
        self.phase != Phase::Finished
    }

    /// The oldest first.
    pub fn by_age(one: &Self, other: &Self) -> Ordering {
        (one.created, &one.name, &one.uid).cmp(&(other.created, &other.name, &other.uid))
    }

    /// By priority, then age.
    pub fn by_importance(one: &Self, other: &Self) -> Ordering {
        other.priority.cmp(&one.priority).then_with(|| Self::by_age(one, other))
    }

    /// Whether it waits for room of its queue: it is demand, and uses nothing yet.
    ///
    /// One that is deleted ends at once, so it counts as any terminating pod.
    #[inline]
    pub fn is_gated(&self) -> bool {
        self.gate.is_some() && self.is_live() && self.node.is_none()
    }

    /// Whether its deletion was requested.
    #[inline]
    pub const fn is_terminating(&self) -> bool {
        self.deletion.is_some()
    }

    /// How long past its deadline a pod counts as one that does not end by itself, in seconds. A kubelet needs a moment after the
    /// grace is over, and a cluster under load some more.
    pub const OVERDUE_SECONDS: i64 = 60;

    /// Whether it is terminating and will hardly end by itself.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.deletion.is_some_and(|by| by.plus_seconds(Self::OVERDUE_SECONDS) <= now)
    }

    /// Since when it is terminating, whatever time it was given.
    pub fn terminating_since(&self) -> Option<Timestamp> {
        let deadline = self.deletion?;
        Some(deadline.plus_seconds(i64::from(self.deletion_seconds).saturating_neg()))
    }

    /// Whether it is charged and not on its way out.
    #[inline]
    pub fn is_live(&self) -> bool {
        self.is_charged() && !self.is_terminating()
    }
}
