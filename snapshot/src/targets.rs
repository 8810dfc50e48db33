//! The targets that a decision was made for.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::amounts::Amounts;
use crate::names::Namespace;
use crate::time::Timestamp;

/// The targets of all queues, made whole from inputs of which they bear the stamp.
///
/// As long as the inputs give the same stamp the targets stay, whatever became of pods that were evicted meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Targets {
    /// A hash of what the targets were made from.
    pub stamp: u64,
    /// When the newest pod without an owner was created then: a newer one is a change from outside, too.
    pub newest: Option<Timestamp>,
    /// The target by namespace, where it is not the deserved share.
    pub of: BTreeMap<Namespace, KeptTarget>,
}

/// The target of one leaf queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptTarget {
    /// So much.
    pub target: Amounts,
    /// What its pods and owners asked for when it was made. An eviction changes nothing of it, unless no owner wants the pod.
    pub shown: Amounts,
}
