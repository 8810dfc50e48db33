//! What pods of one template have in common.

use serde::{Deserialize, Serialize};

use super::{Placement, Workload};
use crate::amounts::{Amounts, Resource};
use crate::labels::Labels;
use crate::names::GangName;

/// What a pod requests and where it may run; shared by all pods of the same shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Its effective requests, as far as a decision may depend on them.
    pub requests: Amounts,
    /// Where it may run.
    pub placement: Placement,
    /// The rest of its requests.
    pub left_out: LeftOut,
}

/// Resources that a pod requests and of which no amount is kept.
///
/// No node offers all of them, so a pod with any can never run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeftOut {
    /// How many resources are left out.
    pub resources: u32,
    /// The first by name of those that no node offers, if that was found out.
    pub first: Option<Resource>,
}

impl LeftOut {
    /// Whether every amount is kept.
    pub const fn is_nothing(&self) -> bool {
        self.resources == 0
    }
}

/// What the metadata of a pod says, as far as it is shared by all pods of the same owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PodMetadata {
    /// Its controller; without one it is not recreated.
    pub owner: Option<Workload>,
    /// The gang that it is a member of.
    pub gang: Option<Gang>,
    /// The labels that disruption budgets select by: those that it shares with the other pods of its owner.
    pub labels: Labels,
}

/// Pods that are of use only together.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gang {
    /// Its name within the namespace.
    pub name: GangName,
    /// How many members have to run for the gang to be of use. Zero while that is not known: then it binds no pod.
    pub min_available: u32,
}
