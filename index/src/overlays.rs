//! What was done to pods and is not seen yet, and what was seen of pods as a kind.

use std::collections::{BTreeMap, BTreeSet};

use quotient_snapshot::PodId;
use quotient_snapshot::ledger::SeenPods;
use quotient_snapshot::names::{Namespace, PodUid};
use quotient_snapshot::time::Timestamp;

use crate::meta::Age;

/// What is remembered of pods as a kind; the pods themselves stand in their namespaces.
#[derive(Debug, Default)]
pub(crate) struct PodKind {
    /// Up to which version every change of a pod was seen.
    pub(crate) newest: Age,
    /// Up to which version they have to be seen before a quota may grow in Gate mode, and how long that counts.
    pub(crate) awaited: Option<(Age, Timestamp)>,
    /// Namespaces in which a gated pod was seen, unless no Queue governed them when that was confirmed last.
    pub(crate) gated: BTreeSet<Namespace>,
    /// Evictions that were accepted and that the watch has not shown yet, each with the time at which the pod has to be gone.
    pub(crate) evictions: BTreeMap<PodUid, (PodId, Timestamp)>,
    /// Evictions that the API server refused a short while ago, each with the time until which that counts. There are few:
    /// budgets block some pods of a few owners.
    pub(crate) refusals: BTreeMap<PodUid, (PodId, Timestamp)>,
}

impl PodKind {
    /// What the watch says of a pod's deletion, completed by what is known beyond it.
    pub(crate) fn leaves_by(&mut self, uid: &PodUid, seen: Option<Timestamp>) -> Option<Timestamp> {
        if seen.is_some() {
            self.evictions.remove(uid);
            return seen;
        }
        self.evictions.get(uid).map(|(_, deadline)| *deadline)
    }

    /// Takes out the refusals that do not count any more at `now`.
    pub(crate) fn take_expired_refusals(&mut self, now: Timestamp) -> Vec<PodId> {
        let refused = self.refusals.values();
        let expired: Vec<PodId> =
            refused.filter(|(_, until)| *until <= now).map(|(pod, _)| pod.clone()).collect();
        self.refusals.retain(|_, (_, until)| *until > now);
        expired
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
        let refused = self.refusals.values().map(|(_, until)| *until).filter(|until| *until > now);
        awaited.into_iter().chain(refused).min()
    }
}
