//! What was granted to which queue, in one object that all grants go through.
//!
//! Quotas are many objects, and optimistic locking protects each of them alone: two leaders that overlap may both
//! raise a quota into the same free room. So grants are made here first, by a write that fails if another client wrote in
//! between, and quotas only follow. A quota bears the generation in which its entry changed last; a write of it is
//! based on the stamp that was seen and changes it, so that it cannot land after a later one.
//!
//! Until a quota has been seen with the stamp of its entry, an earlier write may still land; the largest amounts
//! granted since then count as held for so long ([`Entry::is_fenced`]). Nothing of this is remembered outside the API
//! server: the ledger and the quotas are all there is.
//!
//! Entries are by namespace, not by Queue: what was granted is in force in the namespace, whichever Queue it was for, and
//! a Queue that is deleted and created again inherits what may still land.
//!
//! Everything here is a function of values; [`operator`](https://docs.rs/quotient-operator) reads and writes the object.

mod entry;
mod generation;
mod grant_gate;
mod rebuild;
mod seen;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use entry::Entry;
pub use generation::Generation;
pub use grant_gate::SeenPods;
pub use rebuild::LOST;
pub use seen::Seen;

use crate::names::Namespace;
use crate::time::Timestamp;
use crate::{Quota, Targets};

/// How long a request may live at most, generously: the API server gives up after a minute.
pub const REQUEST_LIFE_SECONDS: i64 = 600;

/// What was granted to which queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// How often it was written.
    pub generation: Generation,
    /// What was granted, by namespace.
    pub entries: BTreeMap<Namespace, Entry>,
    /// The targets that the last decision was made for; none where every target is the deserved share.
    pub targets: Option<Arc<Targets>>,
    /// When it was made up from quotas because it was lost, unless all of them have been written since.
    pub rebuilt: Option<Timestamp>,
    /// The generation up to which another writer wrote it, or may have; none if it was always written here. It is not
    /// written down.
    pub inherited: Option<Generation>,
}

impl Ledger {
    /// This ledger as it was found.
    #[must_use]
    pub fn inherited(mut self) -> Self {
        self.inherited = Some(self.generation);
        self
    }

    /// The quota of `namespace` as decisions read it: what was `seen`, and what was granted.
    ///
    /// There is one if there is an entry, seen or not: its creation may still land. A quota without an entry is one
    /// that has yet to be written under this ledger.
    pub fn quota(&self, namespace: &Namespace, seen: Option<Seen<'_>>) -> Option<Quota> {
        match self.entries.get(namespace) {
            Some(entry) => Some(entry.quota(seen)),
            None => seen.map(|seen| Quota { unstamped: true, ..seen.as_it_stands() }),
        }
    }
}
