//! What was granted to one namespace.

use super::{Generation, Seen};
use crate::Quota;
use crate::amounts::{Amounts, Bounds};
use crate::time::Timestamp;

/// What was granted to one namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// What its quota is to allow.
    pub granted: Bounds,
    /// The largest amounts granted since the entry was last seen fenced, those of that time included: what a write on
    /// its way may still put in force.
    pub largest: Bounds,
    /// What is free or being freed for its queue and not granted yet. It is written before anything is evicted for it.
    pub owed: Amounts,
    /// The generation of the last change.
    pub generation: Generation,
    /// When that was.
    pub changed: Timestamp,
}

impl Entry {
    /// The first that is granted there.
    pub fn first(granted: Bounds, owed: Amounts, generation: Generation, now: Timestamp) -> Self {
        Self { largest: granted.clone(), granted, owed, generation, changed: now }
    }

    /// Whether no write of earlier amounts can land any more, nor is one of them in force.
    ///
    /// Every write of a quota tests the stamp that it was decided on and leaves the entry's behind. So once the quota
    /// bears the stamp of the last change, whatever was sent before it fails.
    pub fn is_fenced(&self, seen: &Seen<'_>) -> bool {
        seen.stamp == Some(self.generation)
            && self.granted.iter().all(|(resource, granted)| {
                let allowed = seen.hard.get(resource).unwrap_or_default().max(granted);
                seen.enforced.get(resource).is_some_and(|enforced| enforced <= allowed)
            })
    }

    /// Whether another writer made the quota what it is. An earlier stamp tells of a write of ours that is still due.
    fn is_drifted(&self, seen: &Seen<'_>) -> bool {
        seen.stamp.is_none_or(|stamp| stamp == self.generation && *seen.hard != self.granted)
    }

    /// The quota as decisions read it, with this entry beside what was `seen`, if one was.
    pub(super) fn quota(&self, seen: Option<Seen<'_>>) -> Quota {
        let is_fenced = seen.is_some_and(|seen| self.is_fenced(&seen));
        let standing = seen.map(Seen::as_it_stands).unwrap_or_default();
        Quota {
            // Whatever became of its label.
            ours: true,
            granted: Some(self.granted.clone()),
            owed: self.owed.clone(),
            unconfirmed: if is_fenced { Bounds::new() } else { self.largest.clone() },
            unstamped: seen.is_none_or(|seen| seen.stamp != Some(self.generation)),
            drifted: seen.is_none_or(|seen| self.is_drifted(&seen)),
            ..standing
        }
    }

    /// The entry after `granted` in `generation`, with `owed`, if that is a change.
    ///
    /// What is owed changes no quota, so the generation that the quota is stamped with stays.
    pub fn changed(
        &self,
        granted: &Bounds,
        owed: &Amounts,
        is_fenced: bool,
        generation: Generation,
        now: Timestamp,
    ) -> Option<Self> {
        if self.granted == *granted {
            return (self.owed != *owed).then(|| Self { owed: owed.clone(), ..self.clone() });
        }
        let before = if is_fenced { &self.granted } else { &self.largest };
        let (largest, granted, owed) = (before.max(granted), granted.clone(), owed.clone());
        Some(Self { granted, largest, owed, generation, changed: now })
    }
}
