//! What the administrator of the cluster configured.

use std::collections::BTreeSet;

use crate::amounts::Resource;

/// Settings that change decisions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The resources to govern; empty for cpu, memory and every extended resource found on a node.
    pub resources: BTreeSet<Resource>,
}
