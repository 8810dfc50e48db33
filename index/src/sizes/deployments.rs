//! Deployments: what they say of the size of their ReplicaSets.

use super::DeclaredReplicas;
use crate::meta::Meta;

/// What is kept of one Deployment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeploymentSize {
    pub(crate) meta: Meta,
    pub(crate) declared: DeclaredReplicas,
    /// Whether it removes an older pod only after a newer one is available.
    pub(crate) surges_first: bool,
}
