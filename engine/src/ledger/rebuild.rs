//! A ledger that is lost is made up from the quotas, and nothing grows until all of them bear its stamp.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Entry, Generation, Ledger, REQUEST_LIFE_SECONDS, Seen};
use crate::names::Namespace;
use crate::snapshot::{Growth, NamespaceState, Queue};
use crate::time::Timestamp;

/// More generations than a ledger that is lost can be ahead of the quotas: each takes a write of every quota that changes.
pub const LOST: u64 = 1 << 20;

impl Ledger {
    /// The ledger where none is found, from all `quotas` that are seen.
    ///
    /// Of ours it counts as granted what they say or still enforce, whichever is more. It is later than every stamp, so
    /// that each of them is written once more.
    pub fn rebuild<'a>(quotas: impl IntoIterator<Item = (&'a Namespace, Seen<'a>)>, now: Timestamp) -> Self {
        let quotas: Vec<_> = quotas.into_iter().collect();
        let newest = quotas.iter().filter_map(|(_, seen)| seen.stamp).max();
        // The one that is lost may have gone further than any quota shows: no generation is ever used by two ledgers.
        let generation = newest.map_or_else(Generation::default, |newest| newest.beyond(LOST)).next();
        let entry = |seen: Seen<'_>| Entry::first(seen.hard.max(seen.enforced), generation, now);
        let ours = quotas.into_iter().filter(|(_, seen)| seen.ours || seen.stamp.is_some());
        let entries: BTreeMap<_, _> =
            ours.map(|(namespace, seen)| (namespace.clone(), entry(seen))).collect();
        // Where no quota of ours is, no write of one is on its way either.
        let rebuilt = (!entries.is_empty()).then_some(now);
        Self { generation, entries, rebuilt, inherited: None }
    }

    /// Whether anything may grow.
    ///
    /// After a rebuild nobody knows which amounts a write on its way carries. What is on its way fails once every quota
    /// bears a stamp of this ledger, and is over when no request can have lived for so long.
    ///
    /// After somebody else has written the ledger and until all quotas are seen as it says, the view may be older than
    /// the ledger, and with it the pods: some that it does not show may fill a quota that has been lowered since.
    pub fn growth(&self, namespaces: &BTreeMap<Namespace, Arc<NamespaceState>>, now: Timestamp) -> Growth {
        let is_recent = |at: Timestamp| now < at.plus_seconds(REQUEST_LIFE_SECONDS);
        let is_made_up =
            self.rebuilt.is_some_and(is_recent) && !namespaces.values().all(|state| is_settled(state));
        let is_unseen = |(namespace, entry): (&Namespace, &Entry)| {
            Some(entry.generation) <= self.inherited
                && is_recent(entry.changed)
                && namespaces.get(namespace).is_some_and(|state| is_to_be_written(state))
        };
        let is_behind = self.inherited.is_some() && self.entries.iter().any(is_unseen);
        if is_made_up || is_behind { Growth::Held } else { Growth::Allowed }
    }
}

/// Whether there is, or will be, a quota that does not bear the stamp of its entry yet.
fn is_to_be_written(state: &NamespaceState) -> bool {
    let Some(quota) = &state.quota else { return false };
    quota.unstamped && (state.queues.iter().any(governs) || quota.is_seen())
}

fn governs(queue: &Queue) -> bool {
    queue.children.is_none()
}

/// Whether no write from before the rebuild can land in the namespace.
fn is_settled(state: &NamespaceState) -> bool {
    match &state.quota {
        Some(quota) if quota.ours => quota.is_fenced(),
        _ => !state.queues.iter().any(governs),
    }
}
