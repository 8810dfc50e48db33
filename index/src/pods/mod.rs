//! Pods: what they request and where they may run, how far they have come, and what protects them.

mod deletion_cost;
mod evictions;
mod gate;
mod kind;
mod lean;
mod life;
mod non_preemptible;
mod refusals;
mod reluctance;
mod requests;
mod stuck;
mod ties;
mod unspecified;

pub(crate) use kind::PodKind;
pub use lean::LeanPod;
pub(crate) use requests::effective_requests;
pub use requests::{unreadable, unreadable_in_template};
pub(crate) use unspecified::unspecified;
