//! What the administrator of the cluster configured.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::amounts::{Amounts, Resource};

/// Settings that change decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// How far the operator goes: no queue goes farther.
    pub mode: Mode,
    /// The resources to govern; empty for cpu, memory and every extended resource found on a node.
    pub resources: BTreeSet<Resource>,
    /// What an autoscaler may still add to the cluster: it counts in the capacity, and pods that wait for nodes
    /// evict no pod for a while.
    pub expandable: Amounts,
    /// Whose pods may be victims for a pending pod of a certain priority.
    pub victim_priority: VictimPriority,
    /// The node label that names a node's pool: the last replica of an owner in each pool is protected.
    pub pool_label: Option<Arc<str>>,
}

/// Whether priorities are compared between queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum VictimPriority {
    /// They are not: a tenant could inflate its own.
    #[default]
    Any,
    /// Pods of a higher priority than that of the pending pod are never its victims (S-HARDEN §How are victims collected).
    NotAboveAsk,
}
