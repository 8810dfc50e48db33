//! Pods: what they request and where they may run, how far they have come, and what protects them.

mod deletion_cost;
mod gate;
mod kind;
mod lean;
mod life;
mod metadata;
mod non_preemptible;
mod reluctance;
mod stuck;

pub use lean::LeanPod;
