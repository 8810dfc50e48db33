//! Pods: what they request and where they may run, how far they have come, and what protects them.

mod annotations;
mod kind;
mod lean;
mod life;
mod metadata;

pub use crate::lean_pod::LeanPod;
pub use annotations::kept;
