//! `bench scale`: what the operator costs on a large cluster, started afresh on a real control plane, and how soon the command
//! line answers there.
//!
//! The cluster is full and every team holds exactly its share: the operator has everything to look after and
//! nothing to reclaim, so what it does after its first cycles is what it does at rest. Then pods are replaced, which
//! changes nothing that it decides.

mod cluster;
mod commands;
mod measure;
mod metrics_text;
mod pods;
mod replacing;
mod report;

pub use cluster::{ClusterSize, fill};
pub use commands::Commands;
pub use measure::{Measurement, Minute, measure};
pub(in crate::bench) use measure::{durations, first_cycle};
pub use metrics_text::Histogram;
pub(in crate::bench) use replacing::replace_pods;
pub use report::{section, table};
