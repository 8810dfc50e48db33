//! Owners: the ReplicaSets, StatefulSets, DaemonSets and Jobs that want pods.
//!
//! A pod that a quota refused does not exist, so what a team asks for stands with the owners of its pods. Most
//! owners want nothing, above all the former ReplicaSets of every Deployment: of those nothing is kept.

mod job;
mod kind;
mod replicas;

pub use job::has_ended;
