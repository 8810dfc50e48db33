//! What says how many pods an owner wants: the number that Quotient may lower for others of the same queue.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::names::OwnerUid;
use crate::reasons::KeptReason;

/// How the size of an owner is said, and what became of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// The object in whose spec it stands; none where it is unknown, so that it cannot be changed.
    pub scale_target: Option<ScaleTarget>,
    /// What stands there: replicas, or a Job's parallelism.
    pub written: u32,
    /// What stood there before Quotient lowered it, if it did.
    pub original_replicas: Option<u32>,
    /// How many more pods the owner would want now if that still stood there.
    pub withheld_replicas: u32,
    /// Why it is not to be changed, if so.
    pub left_alone: Option<KeptReason>,
    /// Whether it is the newest ReplicaSet of a Deployment that removes an older pod only after a newer one is available:
    /// its `maxUnavailable` comes to 0.
    pub surges_first: bool,
}

/// The object whose spec says how many pods an owner wants: the owner itself, or the Deployment of a ReplicaSet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ScaleTarget {
    /// Its kind.
    pub kind: ScaleTargetKind,
    /// Its name within the namespace.
    pub name: Arc<str>,
    /// Its id for life.
    pub uid: OwnerUid,
}

/// The kinds of objects that say how many pods are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScaleTargetKind {
    /// apps/v1 Deployment.
    Deployment,
    /// apps/v1 ReplicaSet without a Deployment.
    ReplicaSet,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// batch/v1 Job.
    Job,
}

impl ScaleTargetKind {
    /// The kind as manifests name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::Job => "Job",
        }
    }
}

impl fmt::Display for ScaleTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.name(), self.name)
    }
}
