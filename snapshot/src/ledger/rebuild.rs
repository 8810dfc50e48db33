//! A ledger that is lost is made up from the quotas.

use std::collections::BTreeMap;

use super::{Entry, Generation, Ledger, Seen};
use crate::amounts::Amounts;
use crate::names::Namespace;
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
        let entry =
            |seen: Seen<'_>| Entry::first(seen.hard.max(seen.enforced), Amounts::new(), generation, now);
        let ours = quotas.into_iter().filter(|(_, seen)| seen.ours || seen.stamp.is_some());
        let entries: BTreeMap<_, _> =
            ours.map(|(namespace, seen)| (namespace.clone(), entry(seen))).collect();
        // Where no quota of ours is, no write of one is on its way either.
        let rebuilt = (!entries.is_empty()).then_some(now);
        Self { generation, entries, rebuilt, ..Self::default() }
    }
}
