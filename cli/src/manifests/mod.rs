//! Manifests: from files to the operator's index.
//!
//! ```text
//!  file ──► text ──► documents ──► Lists taken apart ──► typed, checked, completed ──► Index
//! ```
//!
//! Everything that is wrong with the input is reported at once, each with file, object and field.

mod cluster;
mod decode;
mod defaults;
mod documents;
mod known;
mod latest_time;
mod lists;
mod object;
mod problem;
mod sources;

#[cfg(test)]
pub(crate) use cluster::Cluster;
pub(crate) use cluster::read;
pub(crate) use problem::Problems;
