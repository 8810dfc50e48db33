//! PodGroups as the index keeps them: their sizes, for the pods that name them.

use std::sync::Arc;

use kube::Resource as _;
use quotient_snapshot::names::{Namespace, OwnerUid};
use quotient_snapshot::{Gang, PodMetadata};

use super::Kind;
use crate::gangs::{GroupName, PodGroup, Scheduler, Stated};
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::GroupNote;
use crate::owner_references::controller;
use crate::tables::KindId;

/// A PodGroup is kept in the version in which it was seen last, and is in the table of that version alone.
impl<S: Scheduler> Kind for PodGroup<S> {
    const ID: KindId = KindId::PodGroup(S::PLACE);

    fn kept<'i>(index: &'i Index, (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = index.entry(namespace)?.pod_groups.get(&group::<S>(name))?;
        // The same object in another version has the same age.
        (kept.place == S::PLACE).then(|| kept.meta.kept())
    }

    fn keys(index: &Index) -> impl Iterator<Item = Key> {
        index.keys(|entry| {
            let of_this = entry.pod_groups.iter().filter(|(_, note)| note.place == S::PLACE);
            of_this.map(|(group, _)| group.name.clone())
        })
    }

    fn put(index: &mut Index, (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let (group, size) = (group::<S>(&name), object.size());
        let controller = controller(&mut index.texts, object.meta()).map(|controller| controller.uid);
        let note = GroupNote { meta, size, place: S::PLACE, controller: controller.clone() };
        index.entry_mut(&namespace).put_pod_group(group.clone(), note);
        index.resize_gang(&namespace, &group, size, controller.as_ref())
    }

    fn remove(index: &mut Index, (namespace, name): &Key) -> bool {
        let group = group::<S>(name);
        index.entry_mut(namespace).remove_pod_group(&group);
        index.resize_gang(namespace, &group, 0, None)
    }
}

fn group<S: Scheduler>(name: &Arc<str>) -> GroupName {
    GroupName { family: S::FAMILY, name: Arc::clone(name) }
}

impl Index {
    /// Tells all members of a gang its size. Says whether that is news.
    fn resize_gang(
        &mut self,
        namespace: &Namespace,
        group: &GroupName,
        min_available: u32,
        controller: Option<&OwnerUid>,
    ) -> bool {
        let gang = Gang { name: group.gang(), min_available };
        let Some(entry) = self.namespaces.get_mut(namespace) else { return false };
        let metadata = &mut self.metadata;
        entry.resize_gang(&gang, controller, |former| {
            metadata.get(PodMetadata { gang: Some(gang.clone()), ..former.clone() })
        })
    }
}

impl Index {
    /// The gang that `stated` means. One whose PodGroup was not seen has no size yet, and gets it when it is.
    pub(crate) fn gang(&self, namespace: &Namespace, stated: Stated) -> Gang {
        match stated {
            Stated::Whole(gang) => gang,
            Stated::Group(group) => {
                let entry = self.namespaces.get(namespace);
                let min_available = entry.and_then(|entry| entry.pod_group(&group)).unwrap_or_default();
                Gang { name: group.gang(), min_available }
            }
        }
    }
}
