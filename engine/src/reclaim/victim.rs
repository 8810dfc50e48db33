//! A victim, and for whom it goes.

use super::candidate::Candidate;
use super::nodes::At;
use crate::reason::Reason;
use crate::snapshot::Shape;
use crate::tree::Index;

/// A candidate that was chosen.
#[derive(Clone, Debug)]
pub(super) struct Victim<'a> {
    /// The leaf that loses it.
    pub(super) at: Index,
    pub(super) candidate: Candidate<'a>,
    /// The leaf that gains by it.
    pub(super) beneficiary: Option<Index>,
    pub(super) reason: Reason,
    /// Whether its queue's lowered quota is in force, so that it may go now.
    pub(super) in_force: bool,
    /// The pod that it makes room for, if that is why it goes.
    pub(super) makes_room: Option<MakesRoom<'a>>,
}

/// For which pod a victim makes room, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct MakesRoom<'a> {
    /// The node.
    pub(super) node: At,
    /// What the pod requests and where it may run.
    pub(super) shape: &'a Shape,
    /// Which of all pods that nodes were freed for.
    pub(super) number: usize,
}
