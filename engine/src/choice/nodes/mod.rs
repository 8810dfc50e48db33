//! Nodes: freed quota is worth nothing if no node fits the pod (S-HARDEN §How are victims collected, S-MCM).
//!
//! A model of kube-scheduler that knows resources, selectors, required affinity and taints. What it does not know
//! (spread, volumes, pod affinity) it cannot mistake for a reason to evict: a pod that the model sees room for evicts
//! no pod.

mod room;
mod score;
mod search;

pub(crate) use room::{At, NodeResources};
pub(super) use score::Score;
pub(super) use search::NodeCandidates;
pub(crate) use search::{Group, Search};
