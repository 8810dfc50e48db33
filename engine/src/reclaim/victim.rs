//! A victim, and for whom it goes.

use super::candidate::Candidate;
use super::nodes::At;
use crate::reason::Reason;
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
    /// The node that it makes room on, if that is why it goes.
    pub(super) makes_room: Option<At>,
}
