//! An owner: a ReplicaSet, a StatefulSet or a Job, and how many pods it wants.

use std::sync::Arc;

use super::{Gang, Shape, Size};
use crate::names::OwnerUid;
use crate::time::Timestamp;

/// What the pods of an owner look like, and how many of them should be there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Its id for life, by which its pods name it.
    pub uid: OwnerUid,
    /// Its kind: `ReplicaSet`, `StatefulSet`, `Job` or `QueueJob`.
    pub kind: OwnerKind,
    /// Its name within its namespace.
    pub name: Arc<str>,
    /// Its `metadata.generation`: it changes with its spec.
    pub generation: i64,
    /// When it was created.
    pub created: Timestamp,
    /// How many pods it wants alive now: replicas, or what is left of a Job within its parallelism.
    pub wanted: u32,
    /// What each of them requests.
    pub shape: Arc<Shape>,
    /// The gang that they will be members of.
    pub gang: Option<Gang>,
    /// Their priority.
    pub priority: i32,
    /// What says how many it wants, and whether that may be changed.
    pub size: Size,
}

impl Owner {
    /// How many pods it would want if it had not been scaled down for others.
    pub(crate) fn rightful(&self) -> u32 {
        self.wanted.saturating_add(self.size.held_back)
    }
}

/// The kinds of owners whose wishes are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OwnerKind {
    /// apps/v1 ReplicaSet, of a Deployment or by itself.
    #[default]
    ReplicaSet,
    /// apps/v1 StatefulSet.
    StatefulSet,
    /// batch/v1 Job.
    Job,
    /// A task of a QueueJob: what it wants is not what its Job may run.
    QueueJob,
}

impl OwnerKind {
    /// The kind as manifests name it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::Job => "Job",
            Self::QueueJob => "QueueJob",
        }
    }
}
