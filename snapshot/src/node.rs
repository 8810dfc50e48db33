//! A node: what it offers, and whether it may be counted on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Shape, Taint};
use crate::amounts::Amounts;
use crate::labels::Labels;
use crate::names::NodeName;

/// What the engine needs to know of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What pods may request on it.
    pub allocatable: Amounts,
    /// Whether its allocatable counts: Ready for long enough, schedulable, not being deleted, selected by configuration and no
    /// control-plane node with a `NoSchedule` taint. A node that does not count still contributes what the
    /// pods bound to it request, so that capacity leaves with its pods and never before them.
    pub counts: bool,
    /// Its labels, by which pods select it.
    pub labels: Labels,
    /// What keeps pods away from it.
    pub taints: Arc<[Taint]>,
}

impl Node {
    /// Whether a pod of this shape may run on the node, which has this `name`, if there is room.
    pub fn may_run(&self, name: &NodeName, shape: &Shape) -> bool {
        shape.left_out.is_nothing() && shape.placement.allows(name.as_str(), &self.labels, &self.taints)
    }
}
