//! Everything kept of one namespace, stored in the form that snapshots share.

use std::sync::Arc;

use quotient_engine::labels::Labels;
use quotient_engine::names::{PodName, PodUid};
use quotient_engine::snapshot::{NamespaceState, Pod, Queue};
use quotient_engine::time::Timestamp;

use crate::queues::ObservedQueue;
use crate::quotas::QuotaEntry;
use crate::resource_version::Age;

/// One namespace. Its state is shared with snapshots and copied when it changes while one of them is alive.
///
/// Pods and Queues are sorted by name, which is the order in which the API server lists them: a full list
/// appends. What only the index needs to know of them stands in parallel vectors.
#[derive(Debug, Default)]
pub(crate) struct NamespaceEntry {
    state: Arc<NamespaceState>,
    pod_ages: Vec<Age>,
    queues: Vec<Arc<ObservedQueue>>,
    quota: QuotaEntry,
}

impl NamespaceEntry {
    /// What snapshots share.
    pub(crate) fn state(&self) -> &Arc<NamespaceState> {
        &self.state
    }

    /// Whether snapshots need not mention the namespace, nor the index remember it.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.pods.is_empty() && self.state.queues.is_empty() && self.quota.is_empty()
    }

    /// Keeps `pod`, unless what is kept under its name is newer. Says whether anything changed.
    pub(crate) fn put_pod(&mut self, pod: Pod, age: Age) -> bool {
        match self.find_pod(&pod.name) {
            Ok(at) => {
                let Some(kept_age) = self.pod_ages.get_mut(at) else { return false };
                *kept_age = age;
                if self.state.pods.get(at) == Some(&pod) {
                    return false;
                }
                if let Some(kept) = Arc::make_mut(&mut self.state).pods.get_mut(at) {
                    *kept = pod;
                }
                true
            }
            Err(at) => {
                let pods = &mut Arc::make_mut(&mut self.state).pods;
                make_room(pods);
                make_room(&mut self.pod_ages);
                pods.insert(at, pod);
                self.pod_ages.insert(at, age);
                true
            }
        }
    }

    /// The pod kept under this name, and its age.
    pub(crate) fn pod(&self, name: &PodName) -> Option<(&Pod, Age)> {
        let at = self.find_pod(name).ok()?;
        self.state.pods.get(at).zip(self.pod_ages.get(at).copied())
    }

    /// Forgets the pod of this name, if it is the one with this uid. Returns what was kept.
    pub(crate) fn remove_pod(&mut self, name: &PodName, uid: Option<&PodUid>) -> Option<Pod> {
        let at = self.find_pod(name).ok()?;
        if uid.is_some_and(|uid| self.state.pods.get(at).is_none_or(|kept| kept.uid != *uid)) {
            return None;
        }
        self.pod_ages.remove(at);
        Some(Arc::make_mut(&mut self.state).pods.remove(at))
    }

    /// Marks the pod as leaving by `deletion`, or as not leaving. Says whether that is news.
    pub(crate) fn set_pod_deletion(
        &mut self,
        name: &PodName,
        uid: &PodUid,
        deletion: Option<Timestamp>,
    ) -> bool {
        let Ok(at) = self.find_pod(name) else { return false };
        if self.state.pods.get(at).is_none_or(|kept| kept.uid != *uid || kept.deletion == deletion) {
            return false;
        }
        if let Some(kept) = Arc::make_mut(&mut self.state).pods.get_mut(at) {
            kept.deletion = deletion;
        }
        true
    }

    /// Keeps `queue` and what was observed of it. Says whether anything changed that a decision depends on.
    pub(crate) fn put_queue(&mut self, queue: Queue, observed: ObservedQueue) -> bool {
        let observed = Arc::new(observed);
        match self.find_queue(&queue.name) {
            Ok(at) => {
                let Some(kept) = self.queues.get_mut(at) else { return false };
                let same_spec = kept.generation == observed.generation;
                *kept = observed;
                if self.state.queues.get(at) == Some(&queue) {
                    return !same_spec;
                }
                if let Some(kept) = Arc::make_mut(&mut self.state).queues.get_mut(at) {
                    *kept = queue;
                }
            }
            Err(at) => {
                Arc::make_mut(&mut self.state).queues.insert(at, queue);
                self.queues.insert(at, observed);
            }
        }
        true
    }

    /// What was observed of the Queue of this name.
    pub(crate) fn queue(&self, name: &str) -> Option<&Arc<ObservedQueue>> {
        self.queues.get(self.find_queue(name).ok()?)
    }

    /// Forgets the Queue of this name, if it is the one with this uid.
    pub(crate) fn remove_queue(&mut self, name: &str, uid: Option<&str>) -> bool {
        let Ok(at) = self.find_queue(name) else { return false };
        if uid.is_some_and(|uid| self.queues.get(at).is_none_or(|kept| kept.uid.as_str() != uid)) {
            return false;
        }
        self.queues.remove(at);
        Arc::make_mut(&mut self.state).queues.remove(at);
        true
    }

    /// The names of the pods, in order.
    pub(crate) fn pod_names(&self) -> impl Iterator<Item = &PodName> {
        self.state.pods.iter().map(|pod| &pod.name)
    }

    /// The names of the Queues, in order.
    pub(crate) fn queue_names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.state.queues.iter().map(|queue| &queue.name)
    }

    /// Shows these labels. Says whether they are others than before.
    pub(crate) fn set_labels(&mut self, labels: Labels) -> bool {
        let changed = self.state.labels != labels;
        if changed {
            Arc::make_mut(&mut self.state).labels = labels;
        }
        changed
    }

    /// What is kept of the quota.
    pub(crate) fn quota(&self) -> &QuotaEntry {
        &self.quota
    }

    /// Changes what is kept of the quota. Says whether anything changed that a decision depends on.
    pub(crate) fn change_quota(&mut self, change: impl FnOnce(&mut QuotaEntry)) -> bool {
        let stamp = self.quota.stamp();
        change(&mut self.quota);
        let quota = self.quota.merged();
        if self.state.quota == quota {
            return self.quota.stamp() != stamp;
        }
        Arc::make_mut(&mut self.state).quota = quota;
        true
    }

    fn find_pod(&self, name: &PodName) -> Result<usize, usize> {
        self.state.pods.binary_search_by(|pod| pod.name.cmp(name))
    }

    fn find_queue(&self, name: &str) -> Result<usize, usize> {
        self.state.queues.binary_search_by(|queue| (*queue.name).cmp(name))
    }
}

/// Grows by an eighth where a vector would double: at 150,000 pods, doubling may waste as much as it holds.
fn make_room<T>(entries: &mut Vec<T>) {
    if entries.len() == entries.capacity() {
        entries.reserve_exact((entries.len() / 8).max(4));
    }
}
