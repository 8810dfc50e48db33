//! Sizes: which object says how many pods an owner wants, and whether Quotient may change what it says.
//!
//! A ReplicaSet of a Deployment wants what its Deployment says, so both are read together. An owner that something else
//! keeps at its size (an autoscaler, an operator, a person who has just changed it) is left alone: lowering it would
//! only be corrected.

mod autoscalers;
mod declared_replicas;
mod deployments;
mod surge;

pub(crate) use autoscalers::Autoscaler;
pub use declared_replicas::DeclaredReplicas;
pub(crate) use deployments::DeploymentSize;

use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{OwnerKind, ScaleTarget, ScaleTargetKind};

use crate::index::Index;

impl Index {
    /// Whether this life of the object is kept. The answer to a write is applied only then, because deletions of other lives
    /// are not remembered.
    pub fn holds_scale_target(&self, namespace: &Namespace, scale_target: &ScaleTarget) -> bool {
        let Some(entry) = self.namespaces.get(namespace) else { return false };
        let owner = |kind| {
            entry.owner(kind, &scale_target.name).is_some_and(|(owner, _)| owner.uid == scale_target.uid)
        };
        match scale_target.kind {
            ScaleTargetKind::Deployment => entry
                .deployment(&scale_target.name)
                .is_some_and(|kept| *kept.meta.uid == *scale_target.uid.as_str()),
            ScaleTargetKind::ReplicaSet => owner(OwnerKind::ReplicaSet),
            ScaleTargetKind::StatefulSet => owner(OwnerKind::StatefulSet),
            ScaleTargetKind::Job => owner(OwnerKind::Job),
        }
    }
}
