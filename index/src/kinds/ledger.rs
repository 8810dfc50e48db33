//! The ledger laid beside the quotas that were seen.

use std::collections::BTreeSet;
use std::sync::Arc;

use quotient_snapshot::Pod;
use quotient_snapshot::amounts::Bounds;
use quotient_snapshot::ledger::{Generation, Ledger, Seen};
use quotient_snapshot::names::Namespace;
use quotient_snapshot::time::Timestamp;

use crate::index::Index;
use crate::meta::{Age, ResourceVersion};
use crate::namespace::NamespaceEntry;

impl Index {
    /// What was granted so far; none if there is no ledger, and what quotas say is what was granted.
    pub fn ledger(&self) -> Option<&Arc<Ledger>> {
        self.ledger.as_ref()
    }

    /// Lays `ledger` beside the quotas, in place of the one before. Says whether that changes any of them.
    pub fn set_ledger(&mut self, ledger: Option<Arc<Ledger>>) -> bool {
        let before = std::mem::replace(&mut self.ledger, ledger);
        let known = before.iter().chain(&self.ledger).flat_map(|ledger| ledger.entries.keys().cloned());
        let seen = self.namespaces.iter().filter(|(_, entry)| entry.observed_quota().is_some());
        let concerned: BTreeSet<Namespace> = known.chain(seen.map(|(name, _)| name.clone())).collect();
        concerned.iter().fold(false, |changed, namespace| self.show_quota(namespace) | changed)
    }

    /// The ledger stands at `version`, and another leader may have let in pods under the one before. Until pods are seen up to
    /// `version`, or it is `until`, nothing grows in Gate mode.
    pub fn await_pods(&mut self, version: &ResourceVersion, until: Timestamp) {
        self.pods.awaited = Some((version.age(), until));
    }

    /// The namespaces that were granted something or have gated pods, that no Queue governs as far as is seen, and of which the
    /// API server has not confirmed that.
    ///
    /// A pod is gated for a Queue, and may be seen before the Queue is.
    pub fn entries_without_queue(&self) -> Vec<Namespace> {
        let entries = self.ledger.iter().flat_map(|ledger| ledger.entries.keys());
        let is_gated = |namespace: &&Namespace| {
            let entry = self.namespaces.get(*namespace);
            entry.is_some_and(|entry| entry.state().pods.iter().any(Pod::is_gated))
        };
        let gated = self.pods.gated.iter().filter(is_gated);
        let is_doubtful = |namespace: &&Namespace| {
            let entry = self.namespaces.get(*namespace);
            entry.is_some_and(|entry| entry.state().governing().is_none() && !entry.state().vacant)
        };
        let doubtful: BTreeSet<&Namespace> = entries.chain(gated).filter(is_doubtful).collect();
        doubtful.into_iter().cloned().collect()
    }

    /// The API server said, after the ledger was read, that no Queue governs `namespace`.
    pub fn confirm_vacant(&mut self, namespace: &Namespace) {
        let entry = self.namespaces.get_mut(namespace);
        if let Some(entry) = entry.filter(|entry| entry.state().governing().is_none()) {
            entry.set_vacant(true);
            self.pods.gated.remove(namespace);
        }
    }

    /// Another writer wrote the ledger, and may have seen Queues since that was confirmed.
    pub fn doubt_vacancies(&mut self) {
        for (namespace, entry) in self.namespaces.iter_mut().filter(|(_, entry)| entry.state().vacant) {
            // The ledger may have no entry any more that would have it asked about again.
            if entry.state().pods.iter().any(Pod::is_gated) {
                self.pods.gated.insert(namespace.clone());
            }
            entry.set_vacant(false);
        }
    }

    /// Every quota of the name `quotient` in a managed namespace. In others anyone may write a quota of that name, with any
    /// stamp and any amounts, so what stands there says nothing of what was granted.
    pub fn quotas_seen(&self) -> impl Iterator<Item = (&Namespace, Seen<'_>)> {
        let managed = self.namespaces.iter().filter(|(_, entry)| entry.is_managed());
        managed.filter_map(|(name, entry)| Some((name, self.credible(entry.observed_quota()?.seen()))))
    }

    /// `seen`, without a stamp that no ledger can have given.
    fn credible<'a>(&self, seen: Seen<'a>) -> Seen<'a> {
        let known = self.ledger.as_ref().map(|ledger| ledger.generation);
        Seen { stamp: seen.stamp.filter(|stamp| stamp.is_credible(known)), ..seen }
    }

    /// The newest stamp that a quota of a managed namespace was seen with.
    pub fn newest_stamp(&self) -> Option<Generation> {
        self.quotas_seen().filter_map(|(_, seen)| seen.stamp).max()
    }

    /// Shows snapshots the quota of `namespace` as the ledger has it. Says whether that is news.
    ///
    /// That the namespace is not seen proves nothing: the list of namespaces may be older than the ledger.
    pub(crate) fn show_quota(&mut self, namespace: &Namespace) -> bool {
        let entry = self.namespaces.get(namespace);
        let seen =
            entry.and_then(|entry| entry.observed_quota()).map(|observed| self.credible(observed.seen()));
        let mut quota = match &self.ledger {
            None => seen.map(Seen::as_it_stands),
            Some(ledger) => ledger.quota(namespace, seen),
        };
        if entry.is_none() && quota.is_none() {
            return false;
        }
        // Anyone may write a quota of our name and label into an unmanaged namespace. If the ledger granted nothing there, it
        // holds nothing.
        let granted = self.ledger.as_ref().is_none_or(|ledger| ledger.entries.contains_key(namespace));
        let believed = granted || entry.is_some_and(NamespaceEntry::is_managed);
        if let Some(quota) = &mut quota {
            quota.ours &= believed;
            quota.unstamped |= self.observed_quota(namespace).is_some_and(|observed| observed.marked);
            quota.charged = self.charged_beyond_pods(namespace);
        }
        let changed = self.namespaces.entry(namespace.clone()).or_default().show_quota(quota);
        self.drop_if_empty(namespace);
        changed
    }

    /// What the quota says is charged, if it is newer than every pod that was seen: pods and quotas come by different
    /// watches, and admission charges a pod before there is one.
    fn charged_beyond_pods(&mut self, namespace: &Namespace) -> Bounds {
        let Some(observed) = self.observed_quota(namespace) else { return Bounds::new() };
        let (age, charged) = (observed.age(), observed.charged.clone());
        if age <= self.pods.newest {
            return Bounds::new();
        }
        self.quotas.ahead.insert((age, namespace.clone()));
        charged
    }

    /// Every change of a pod up to this age was seen. Says whether that changes what may grow, or what any quota tells beyond
    /// pods.
    pub(crate) fn pods_seen_until(&mut self, age: Age) -> bool {
        let mut changed =
            self.pods.awaited.is_some_and(|(awaited, _)| self.pods.newest < awaited && awaited <= age);
        self.pods.newest = self.pods.newest.max(age);
        while let Some((ahead, _)) = self.quotas.ahead.first()
            && *ahead <= self.pods.newest
            && let Some((_, namespace)) = self.quotas.ahead.pop_first()
        {
            changed |= self.show_quota(&namespace);
        }
        changed
    }
}
