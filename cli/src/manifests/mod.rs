//! Objects of files, snapshots and clusters: typed, checked, completed, in the operator's index.
//!
//! ```text
//!  file ──► text ──► documents ──► Lists taken apart ──► typed, checked ──► ids, defaults, rollouts ──► Index
//! ```
//!
//! Everything that is wrong with the input is reported at once, each with file, object and field.

mod checks;
mod cluster;
mod defaults;
mod operator;
mod reader;
mod rollouts;
mod sources;

#[cfg(test)]
pub(crate) use cluster::read;
pub(crate) use cluster::{Cluster, find_pod, read_snapshot, without_requests};
pub(crate) use operator::{OperatorFacts, workload_kinds};
pub(crate) use sources::Problems;
