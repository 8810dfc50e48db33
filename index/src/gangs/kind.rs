//! PodGroups as the index keeps them: their sizes, for the pods that name them.

use std::sync::Arc;

use kube::Resource as _;
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::{Gang, Ties};

use super::pod_group::{GroupName, PLACES, PodGroup, Scheduler};
use crate::decoded::Undecodable;
use crate::index::Index;
use crate::keeps::Keeps;
use crate::namespace::GroupNote;
use crate::reading::uid_of;
use crate::relist::Relist;
use crate::resource_version::Age;

type Key = (Namespace, GroupName);

/// What is remembered of PodGroups as kinds, one for each version.
#[derive(Debug)]
pub(crate) struct PodGroupKinds([Relist<Key>; PLACES]);

impl Default for PodGroupKinds {
    fn default() -> Self {
        Self([const { Relist::idle() }; PLACES])
    }
}

impl PodGroupKinds {
    fn seen(&mut self, key: &Key) {
        self.0.iter_mut().for_each(|relist| relist.seen(key));
    }
}

impl<S: Scheduler> Keeps<PodGroup<S>> for Index {
    fn apply(&mut self, object: &PodGroup<S>) -> bool {
        let metadata = object.meta();
        let Some(uid) = uid_of(metadata) else { return false };
        let name: Arc<str> = metadata.name.as_deref().unwrap_or_default().into();
        let namespace = Namespace::from(metadata.namespace.as_deref().unwrap_or_default());
        let key = (namespace, GroupName { family: S::FAMILY, name });
        self.pod_groups.seen(&key);
        let age = Age::of(metadata);
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.pod_groups.get(&key.1));
        // The same object in another version has the same age.
        if kept.is_some_and(|kept| kept.place == S::PLACE && age.is_stale_beside(kept.age)) {
            return false;
        }
        let note = GroupNote { uid: (*uid).into(), age, size: object.size(), place: S::PLACE };
        let size = note.size;
        self.namespaces.entry(key.0.clone()).or_default().pod_groups.insert(key.1.clone(), note);
        self.resize_gang(&key, size)
    }

    fn apply_undecodable(&mut self, object: &Undecodable) -> bool {
        let (namespace, name) = object.key();
        self.pod_groups.seen(&(namespace, GroupName { family: S::FAMILY, name }));
        false
    }

    fn delete(&mut self, namespace: &str, name: &str, uid: &str) -> bool {
        let key = (Namespace::from(namespace), GroupName { family: S::FAMILY, name: name.into() });
        let kept = self.namespaces.get(&key.0).and_then(|entry| entry.pod_groups.get(&key.1));
        kept.is_some_and(|kept| *kept.uid == *uid) && self.remove_pod_group(&key)
    }

    fn relist_begin(&mut self) {
        let kept = self.namespaces.iter().flat_map(|(namespace, entry)| {
            let of_this = entry.pod_groups.iter().filter(|(_, note)| note.place == S::PLACE);
            of_this.map(|(name, _)| (namespace.clone(), name.clone()))
        });
        if let Some(relist) = self.pod_groups.0.get_mut(S::PLACE) {
            relist.begin(kept);
        }
    }

    fn relist_finish(&mut self) -> bool {
        let missing = self.pod_groups.0.get_mut(S::PLACE).map(Relist::finish).unwrap_or_default();
        missing.iter().fold(false, |changed, key| self.remove_pod_group(key) | changed)
    }
}

impl Index {
    fn remove_pod_group(&mut self, key: &Key) -> bool {
        self.pod_groups.seen(key);
        let Some(entry) = self.namespaces.get_mut(&key.0) else { return false };
        entry.pod_groups.remove(&key.1);
        let changed = self.resize_gang(key, 0);
        self.drop_if_empty(&key.0);
        changed
    }

    /// Tells all members of a gang its size. Says whether that is news.
    fn resize_gang(&mut self, (namespace, group): &Key, min_available: u32) -> bool {
        let gang = Gang { name: group.gang(), min_available };
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let ties = &mut self.ties;
        entry.resize_gang(&gang, |former| ties.get(Ties { gang: Some(gang.clone()), ..former.clone() }))
    }
}
