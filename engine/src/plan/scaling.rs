//! An owner whose size is to be changed, and the numbers that justify it.

use super::{PodId, Preemptor};
use crate::names::{OwnerUid, QueueName};
use crate::reasons::ScalingReason;
use crate::snapshot::{Owner, OwnerKind, Pod, ScaleTarget};

/// One owner to scale.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scaling {
    /// The queue that governs it.
    pub queue: QueueName,
    /// The owner of the pods.
    pub owner: OwnerUid,
    /// The object to write to.
    pub scale_target: ScaleTarget,
    /// The size that stands there now. If another does, this is not to be carried out.
    pub from: u32,
    /// The size to write.
    pub to: u32,
    /// The size to remember beside it as the one before; none if there is nothing to remember any more.
    pub original_replicas: Option<u32>,
    /// The pods that are to go, first to go first; none where it grows.
    pub pods: Vec<PodId>,
    /// Those among them that have to be marked before the size is written, so that the owner's controller takes them first.
    pub marks: Vec<PodId>,
    /// The pods that stay and are still marked; the mark has to be lifted before the size is written.
    pub lifts: Vec<PodId>,
    /// Their priority.
    pub priority: i32,
    /// The beneficiaries, the most important first.
    pub beneficiaries: Vec<Preemptor>,
    /// Why.
    pub reason: ScalingReason,
}

impl Scaling {
    /// The deletion cost that marks a pod.
    pub const MARK: i32 = i32::MIN;

    /// Whether `pod` of `owner` is marked. The controllers of other kinds do not read the cost.
    pub(crate) fn marks(owner: &Owner, pod: &Pod) -> bool {
        owner.kind == OwnerKind::ReplicaSet && pod.deletion_cost == Self::MARK
    }

    /// A scaling of `owner` that changes nothing; none if its size cannot be changed.
    pub(crate) fn unchanged(queue: &QueueName, owner: &Owner, reason: ScalingReason) -> Option<Self> {
        Some(Self {
            queue: queue.clone(),
            owner: owner.uid.clone(),
            scale_target: owner.size.scale_target.clone()?,
            from: owner.size.written,
            to: owner.size.written,
            original_replicas: owner.size.original_replicas,
            pods: Vec::new(),
            marks: Vec::new(),
            lifts: Vec::new(),
            priority: owner.priority,
            beneficiaries: Vec::new(),
            reason,
        })
    }

    /// Whether it makes pods go.
    pub const fn lowers(&self) -> bool {
        self.to < self.from
    }
}
