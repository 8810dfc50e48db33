//! What owners lack: pods that were refused, or that nobody has got round to create.

use std::collections::BTreeMap;

use super::live_by_owner;
use crate::amounts::Amounts;
use crate::names::OwnerUid;
use crate::snapshot::{NamespaceState, NotTakenUp, Owner};

/// An owner that wants more pods than there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ask<'a> {
    pub(crate) owner: &'a Owner,
    /// How many it lacks.
    pub(crate) pods: u32,
    /// Of these, how many it lacks because it was scaled down for others of its queue.
    pub(crate) held_back: u32,
    /// Whether they do not count, because nothing came of the ones it has.
    pub(crate) not_taken_up: bool,
}

impl Ask<'_> {
    /// Everything that it lacks.
    pub(crate) fn requests(&self) -> Amounts {
        self.owner.shape.requests.times(self.pods)
    }
}

/// What the owners of a namespace lack, most important first: by priority, then age.
pub(crate) fn asks<'a>(
    state: &'a NamespaceState,
    not_taken_up: &BTreeMap<OwnerUid, NotTakenUp>,
) -> Vec<Ask<'a>> {
    if state.owners.is_empty() {
        return Vec::new();
    }
    let live = live_by_owner(state);
    let mut asks: Vec<Ask<'a>> = state
        .owners
        .iter()
        .map(|owner| Ask {
            owner,
            pods: owner.rightful().saturating_sub(live.get(&owner.uid).copied().unwrap_or_default()),
            held_back: owner.size.held_back,
            not_taken_up: not_taken_up.contains_key(&owner.uid),
        })
        .map(|ask| Ask { held_back: ask.held_back.min(ask.pods), ..ask })
        .filter(|ask| ask.pods > 0)
        .collect();
    asks.sort_by(|a, b| {
        (b.owner.priority.cmp(&a.owner.priority))
            .then_with(|| a.owner.created.cmp(&b.owner.created))
            .then_with(|| (&a.owner.name, &a.owner.uid).cmp(&(&b.owner.name, &b.owner.uid)))
    });
    asks
}
