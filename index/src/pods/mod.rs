//! Pods: what they request, how far they have come, and what protects them.

mod evictions;
mod immunity;
mod kind;
mod life;
mod owner;
mod reluctance;
mod requests;

pub(crate) use kind::PodKind;
pub use requests::unreadable;
