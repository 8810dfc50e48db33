//! Nodes: what they offer, to which pods, and whether they count.

mod entry;
mod known;

pub use entry::unreadable;
pub(crate) use entry::{NodeEntry, excess};
pub(crate) use known::Nodes;
