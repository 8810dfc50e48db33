//! The targets that a decision was made for.

use std::collections::BTreeMap;

use crate::amounts::Amounts;
use crate::names::Namespace;

/// The targets of all queues, made whole from inputs of which they bear the stamp.
///
/// As long as the inputs give the same stamp the targets stay, whatever became of pods that were evicted meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    /// A hash of what the targets were made from.
    pub stamp: u64,
    /// The target by namespace, where it is not the deserved share.
    pub of: BTreeMap<Namespace, Amounts>,
}
