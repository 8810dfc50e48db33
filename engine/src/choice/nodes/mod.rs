//! Freed quota is worth nothing if no node fits the pod (S-HARDEN §How are victims collected, S-MCM): what it costs to free one.

mod score;
mod search;

pub(super) use score::Score;
pub(super) use search::NodeCandidates;
pub(crate) use search::{Group, Search};
