//! Sizes: which object says how many pods an owner wants, and whether Quotient may change what it says.
//!
//! A ReplicaSet of a Deployment wants what its Deployment says, so both are read together. An owner that something else
//! keeps at its size (an autoscaler, an operator, a person who has just changed it) is left alone: lowering it would
//! only be corrected.

mod declared_replicas;
mod deployments;

pub use declared_replicas::DeclaredReplicas;
pub(crate) use deployments::{Autoscaler, DeploymentSize, surges_first};
