//! The pods of a namespace.

use std::sync::Arc;

use quotient_snapshot::PodId;
use quotient_snapshot::names::PodUid;
use quotient_snapshot::time::Timestamp;
use quotient_snapshot::{Pod, PodMetadata};

use super::{NamespaceEntry, keep};
use crate::meta::Age;

impl NamespaceEntry {
    /// Keeps `pod`, unless what is kept under its name is newer. Says whether anything changed.
    pub(crate) fn put_pod(&mut self, pod: Pod, age: Age) -> bool {
        let place = self.find_pod(pod.name.as_str());
        keep(&mut self.pod_ages, place, age);
        let is_news = place.map_or(true, |at| self.state.pods.get(at) != Some(&pod));
        if is_news {
            self.incomplete = true;
            keep(&mut Arc::make_mut(&mut self.state).pods, place, pod);
        }
        is_news
    }

    /// The pod kept under this name, and its age.
    pub(crate) fn pod(&self, name: &str) -> Option<(&Pod, Age)> {
        let at = self.find_pod(name).ok()?;
        self.state.pods.get(at).zip(self.pod_ages.get(at).copied())
    }

    /// Forgets the pod of this name. Returns what was kept.
    pub(crate) fn remove_pod(&mut self, name: &str) -> Option<Pod> {
        let at = self.find_pod(name).ok()?;
        self.pod_ages.remove(at);
        self.incomplete = true;
        Some(Arc::make_mut(&mut self.state).pods.remove(at))
    }

    /// Marks the pod as evicted and leaving by `deletion`, or as staying. Says whether that is news.
    pub(crate) fn set_pod_evicted(&mut self, pod: &PodId, deletion: Option<Timestamp>) -> bool {
        let Ok(at) = self.find_pod(pod.name.as_str()) else { return false };
        if self.state.pods.get(at).is_none_or(|kept| kept.uid != pod.uid || kept.deletion == deletion) {
            return false;
        }
        if let Some(kept) = Arc::make_mut(&mut self.state).pods.get_mut(at) {
            kept.deletion = deletion;
            kept.evicted = deletion.is_some();
        }
        true
    }

    /// Gives the pod other metadata. Says whether it is kept.
    pub(crate) fn set_pod_metadata(&mut self, name: &str, metadata: Arc<PodMetadata>) -> bool {
        let Ok(at) = self.find_pod(name) else { return false };
        let Some(kept) = Arc::make_mut(&mut self.state).pods.get_mut(at) else { return false };
        kept.metadata = metadata;
        true
    }

    /// Marks the eviction of the pod as refused, or no longer. Says whether that is news.
    pub(crate) fn set_pod_refused(&mut self, uid: &PodUid, refused: bool) -> bool {
        if self.state.refused.contains(uid) == refused {
            return false;
        }
        let all = &mut Arc::make_mut(&mut self.state).refused;
        if refused { all.insert(uid.clone()) } else { all.remove(uid) }
    }

    /// The names of the pods, in order.
    pub(crate) fn pod_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.state.pods.iter().map(|pod| pod.name.shared())
    }

    fn find_pod(&self, name: &str) -> Result<usize, usize> {
        self.state.pods.binary_search_by(|pod| pod.name.as_str().cmp(name))
    }
}
