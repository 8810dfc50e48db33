//! What was done to pods and is not seen yet, and what was seen of pods as a kind.

mod evictions;
mod refusals;

use std::collections::BTreeSet;

use quotient_engine::ledger::SeenPods;
use quotient_engine::names::{Namespace, PodUid};
use quotient_engine::plan::PodId;
use quotient_engine::time::Timestamp;

use crate::resource_version::Age;
use evictions::UnseenEvictions;
use refusals::Refusals;

/// What is remembered of pods as a kind; the pods themselves stand in their namespaces.
#[derive(Debug, Default)]
pub(crate) struct PodKind {
    /// Up to which version every change of a pod was seen.
    pub(crate) newest: Age,
    /// Up to which version they have to be seen before a quota may grow in Gate mode, and how long that counts.
    pub(crate) awaited: Option<(Age, Timestamp)>,
    /// Namespaces in which a gated pod was seen, unless no Queue governed them when that was confirmed last.
    pub(crate) gated: BTreeSet<Namespace>,
    pub(crate) evictions: UnseenEvictions,
    pub(crate) refusals: Refusals,
}

impl PodKind {
    pub(crate) fn evicted(&mut self, pod: &PodId, deadline: Timestamp) {
        self.evictions.insert(pod, deadline);
    }

    pub(crate) fn forget_eviction(&mut self, uid: &PodUid) -> bool {
        self.evictions.remove(uid)
    }

    pub(crate) fn unseen_evictions(&self) -> impl Iterator<Item = &PodId> {
        self.evictions.iter()
    }

    pub(crate) fn refused(&mut self, pod: &PodId, until: Timestamp) {
        self.refusals.insert(pod, until);
    }

    pub(crate) fn take_expired_refusals(&mut self, now: Timestamp) -> Vec<PodId> {
        self.refusals.take_expired(now)
    }

    /// Whether they are seen as they were when the ledger was written.
    pub(crate) fn seen(&self, now: Timestamp) -> SeenPods {
        match self.awaited {
            Some((age, until)) if self.newest < age && now < until => SeenPods::Older,
            _ => SeenPods::UpToLedger,
        }
    }

    pub(crate) fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let awaited = self.awaited.filter(|_| self.seen(now) == SeenPods::Older).map(|(_, until)| until);
        [awaited, self.refusals.next_expiry(now)].into_iter().flatten().min()
    }
}
