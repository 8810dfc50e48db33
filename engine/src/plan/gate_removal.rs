//! A scheduling gate to remove.

use super::PodId;
use crate::snapshot::GatePosition;

/// One gate to remove, so that the scheduler places the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRemoval {
    /// The pod.
    pub pod: PodId,
    /// Where among the gates of the pod ours is.
    pub position: GatePosition,
}
