//! A pod to evict, and the numbers that justify it.

use std::fmt;

use super::IncompleteGang;
use crate::amounts::Amounts;
use crate::names::{PodName, QueueName};
use crate::reasons::{EvictionReason, KeptReason, ShortReason};
use crate::snapshot::{
    GATED_PODS, LeftOut, Owner, OwnerKind, Pod, PodId, Rejection, ScaleTarget, Shape, Workload,
};
use std::sync::Arc;

/// Where in its life a pod stands, least intrusive to take first (S-MCM).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It is on its way out.
    Terminating,
    /// It has not started, or its gang lacks members to be of use: nothing is lost.
    NotRunning,
    /// Its owner or its gang does without it: more of them are there than are wanted or needed.
    Surplus,
    /// It runs.
    Committed,
}

/// One pod to evict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Eviction {
    /// The pod.
    pub pod: PodId,
    /// The workload that people know it by: the Deployment rather than its ReplicaSet; none for a bare pod.
    pub workload: Option<Workload>,
    /// The queue that loses it.
    pub queue: QueueName,
    /// The queue that is short of what the pod holds; none where the cluster itself is exceeded.
    pub beneficiary: Option<QueueName>,
    /// Why.
    pub reason: EvictionReason,
    /// Where in its life it stands.
    pub stage: Stage,
    /// Its place among the candidates of its queue when it was chosen, least protected first; the first is 1. A pod that goes
    /// with others has their place. None for a pod that was terminating already.
    pub rank: Option<u32>,
    /// Its priority.
    pub priority: i32,
    /// What it frees.
    pub requests: Amounts,
    /// What its queue uses.
    pub used: Arc<Amounts>,
    /// What its queue deserves.
    pub deserved: Arc<Amounts>,
    /// The grace that it is given, in seconds; `None` for its own.
    pub grace_seconds: Option<u32>,
}

/// A candidate that was not taken although its queue gives, because a rule protects it.
///
/// A pod of a giving queue that is neither here nor evicted was not needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The pod.
    pub pod: PodId,
    /// Its queue.
    pub queue: QueueName,
    /// The rule.
    pub reason: KeptReason,
}

/// Pods that cannot start now, and what stands in the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// Whose they are.
    pub preemptor: Preemptor,
    /// What controls the owner, such as its Deployment.
    pub controller: Option<Arc<Workload>>,
    /// How many.
    pub pods: u32,
    /// What each of them requests.
    pub requests: Amounts,
    /// What stands in the way.
    pub reason: ShortReason,
    /// How far Quotient lowered the workload for other pods of the queue, if it did.
    pub lowered: Option<Box<Lowered>>,
    /// The gang that they complete and the one that uses the room for it, if that is what stands in the way.
    pub incomplete_gang: Option<Box<IncompleteGang>>,
    /// Why the API server refuses them, if it does.
    pub rejection: Option<Rejection>,
    /// The rest of what each of them requests.
    pub left_out: LeftOut,
}

impl Unmet {
    /// So many pods of `shape`, of which no more is known.
    pub(crate) fn new(preemptor: Preemptor, pods: u32, shape: &Shape, reason: ShortReason) -> Self {
        let (requests, left_out) = (shape.requests.clone(), shape.left_out.clone());
        Self {
            preemptor,
            controller: None,
            pods,
            requests,
            reason,
            lowered: None,
            incomplete_gang: None,
            rejection: None,
            left_out,
        }
    }
}

/// A workload whose size Quotient lowered for other pods of the same queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lowered {
    /// The object in whose spec the size stands.
    pub scale_target: ScaleTarget,
    /// The size before, which Quotient remembers on the object.
    pub from: u32,
    /// The size now.
    pub to: u32,
    /// Why Quotient leaves the size alone now, if it does.
    pub left_alone: Option<KeptReason>,
}

impl Lowered {
    /// The record of `owner`; none if Quotient did not lower it or the size is back.
    pub(crate) fn of(owner: &Owner) -> Option<Self> {
        let size = &owner.size;
        let (scale_target, from) = (size.scale_target.clone()?, size.original_replicas?);
        let lowered = Self { scale_target, from, to: size.written, left_alone: size.left_alone };
        (lowered.to < lowered.from).then_some(lowered)
    }
}

/// What Quotient did, to how many pods, and what brings the others back.
impl fmt::Display for Lowered {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scale_target, from, to, left_alone } = self;
        write!(
            formatter,
            "Quotient lowered {scale_target} from {from} to {to} because other pods of the queue needed the room; "
        )?;
        match left_alone {
            None => formatter
                .write_str("in mode Full Quotient restores the size when the queue and a node have room"),
            Some(reason) => write!(formatter, "Quotient leaves the size alone now ({reason})"),
        }
    }
}

/// What needs room.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preemptor {
    /// A pod that no node has taken.
    Pod(PodName),
    /// An owner some of whose pods were refused.
    Owner(OwnerKind, Arc<str>),
}

impl Preemptor {
    /// The pod, or its `owner` if that is known.
    pub(crate) fn of_pod(pod: &Pod, owner: Option<&Owner>) -> Self {
        owner.map_or_else(|| Self::Pod(pod.name.clone()), Self::of)
    }

    /// The owner as a preemptor.
    pub(crate) fn of(owner: &Owner) -> Self {
        if owner.kind == OwnerKind::Configured(&GATED_PODS) {
            return Self::Pod(PodName::new(Arc::clone(&owner.name)));
        }
        Self::Owner(owner.kind, owner.name.clone())
    }

    /// The kind as manifests name it, and the name.
    pub fn kind_and_name(&self) -> (&str, &str) {
        match self {
            Self::Pod(name) => ("Pod", name.as_str()),
            Self::Owner(kind, name) => (kind.name(), name),
        }
    }
}

/// Kind and name: `Job train`.
impl fmt::Display for Preemptor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = self.kind_and_name();
        write!(formatter, "{kind} {name}")
    }
}
