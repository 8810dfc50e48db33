//! Evictions that were accepted and that the watch has not shown yet.

use std::collections::BTreeMap;

use quotient_engine::names::PodUid;
use quotient_engine::plan::PodId;
use quotient_engine::time::Timestamp;

/// By uid: the pod, and when it has to be gone.
#[derive(Debug, Default)]
pub(crate) struct UnseenEvictions(BTreeMap<PodUid, (PodId, Timestamp)>);

impl UnseenEvictions {
    pub(crate) fn insert(&mut self, pod: &PodId, deadline: Timestamp) {
        self.0.insert(pod.uid.clone(), (pod.clone(), deadline));
    }

    /// Says whether there was one.
    pub(crate) fn remove(&mut self, uid: &PodUid) -> bool {
        self.0.remove(uid).is_some()
    }

    /// What the watch says of a pod's deletion, completed by what is known beyond it.
    pub(crate) fn merge(&mut self, uid: &PodUid, seen: Option<Timestamp>) -> Option<Timestamp> {
        if seen.is_some() {
            self.0.remove(uid);
            return seen;
        }
        self.0.get(uid).map(|(_, deadline)| *deadline)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &PodId> {
        self.0.values().map(|(pod, _)| pod)
    }
}
