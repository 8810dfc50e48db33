//! A quota as it was seen, before the ledger is laid beside it.

use super::Generation;
use crate::Quota;
use crate::amounts::Bounds;
use crate::names::QueueUid;

/// The quota `quotient` of a namespace as it was seen last.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The generation that it is stamped with; none if with none.
    pub stamp: Option<Generation>,
    /// `spec.hard`.
    pub hard: &'a Bounds,
    /// `status.hard`.
    pub enforced: &'a Bounds,
    /// Whether its label says that we wrote it.
    pub ours: bool,
    /// The Queue that its only owner reference names.
    pub owner: Option<&'a QueueUid>,
}

impl Seen<'_> {
    /// The quota where there is no ledger: what it says is what was granted.
    pub fn as_it_stands(self) -> Quota {
        Quota {
            hard: self.hard.clone(),
            enforced: self.enforced.clone(),
            ours: self.ours,
            owner: self.owner.cloned(),
            ..Quota::default()
        }
    }
}
