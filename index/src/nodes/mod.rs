//! Nodes: what they offer, to which pods, and whether they count.

mod entry;
mod kind;
mod readiness;
mod selection;

pub use entry::unreadable;
pub(crate) use kind::Nodes;
