//! What pods of one template have in common.

use super::Placement;
use crate::amounts::Amounts;
use crate::labels::Labels;
use crate::names::{GangName, OwnerUid};

/// What a pod requests and where it may run; shared by all pods of the same shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Its effective requests.
    pub requests: Amounts,
    /// Where it may run.
    pub placement: Placement,
}

/// Whom a pod belongs to; shared by all pods of the same owner.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ties {
    /// Its controller; without one nobody recreates it.
    pub owner: Option<OwnerUid>,
    /// The gang that it is a member of.
    pub gang: Option<Gang>,
    /// The labels that disruption budgets select by: those that it shares with the other pods of its owner.
    pub labels: Labels,
}

/// Pods that are of use only together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gang {
    /// Its name within the namespace.
    pub name: GangName,
    /// How many members have to run for the gang to be of use. Zero while that is not known: then it binds nobody.
    pub min_available: u32,
}
