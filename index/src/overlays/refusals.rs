//! Evictions that the API server refused a short while ago.

use std::collections::BTreeMap;

use quotient_engine::names::PodUid;
use quotient_engine::plan::PodId;
use quotient_engine::time::Timestamp;

/// By uid: the pod, and until when its eviction counts as refused. There are few: budgets block some pods of a few owners.
#[derive(Debug, Default)]
pub(crate) struct Refusals(BTreeMap<PodUid, (PodId, Timestamp)>);

impl Refusals {
    pub(crate) fn insert(&mut self, pod: &PodId, until: Timestamp) {
        self.0.insert(pod.uid.clone(), (pod.clone(), until));
    }

    /// Says whether there was one.
    pub(crate) fn remove(&mut self, uid: &PodUid) -> bool {
        self.0.remove(uid).is_some()
    }

    /// Takes out those that do not count any more at `now`.
    pub(crate) fn take_expired(&mut self, now: Timestamp) -> Vec<PodId> {
        let expired: Vec<PodId> =
            self.0.values().filter(|(_, until)| *until <= now).map(|(pod, _)| pod.clone()).collect();
        for pod in &expired {
            self.0.remove(&pod.uid);
        }
        expired
    }

    /// When the next one expires after `now`.
    pub(crate) fn next_expiry(&self, now: Timestamp) -> Option<Timestamp> {
        self.0.values().map(|(_, until)| *until).filter(|until| *until > now).min()
    }
}
