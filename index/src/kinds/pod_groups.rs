//! PodGroups as the index keeps them: their sizes, for the pods that name them.

use std::borrow::Cow;
use std::sync::Arc;

use kube::Resource as _;
use quotient_snapshot::names::Namespace;
use quotient_snapshot::{Gang, PodMetadata};

use super::Kind;
use crate::gangs::{GroupName, PodGroup, PodGroupApi, Stated};
use crate::index::Index;
use crate::meta::{Kept, Key, Meta};
use crate::namespace::GroupNote;
use crate::owner_references::controller;

/// A PodGroup is kept in the version in which it was seen last, and is in the table of that version alone.
impl Kind for PodGroup {
    fn kind_name(api: &PodGroupApi) -> Cow<'_, str> {
        api.name.into()
    }

    fn kept<'i>(index: &'i Index, api: &PodGroupApi, (namespace, name): &Key) -> Option<Kept<'i>> {
        let kept = index.entry(namespace)?.pod_groups.get(&group(api, name))?;
        // The same object in another version has the same age.
        (kept.api == api.name).then(|| kept.meta.kept())
    }

    fn keys(index: &Index, api: &PodGroupApi) -> impl Iterator<Item = Key> {
        index.keys(|entry| {
            let of_this = entry.pod_groups.iter().filter(|(_, note)| note.api == api.name);
            of_this.map(|(group, _)| group.name.clone())
        })
    }

    fn put(index: &mut Index, api: &PodGroupApi, (namespace, name): Key, meta: Meta, object: &Self) -> bool {
        let (group, size) = (group(api, &name), object.size(api));
        let controller = controller(&mut index.texts, object.meta()).map(|controller| controller.uid);
        let note = GroupNote { meta, size, api: api.name, controller };
        if !index.entry_mut(&namespace).put_pod_group(group.clone(), note) {
            return false;
        }
        index.unshown_groups.entry(namespace).or_default().insert(group);
        // Pods are looked at once for a whole list: a tenant may have ten thousand PodGroups, and more pods.
        !index.is_listing::<Self>(api) && index.resize_gangs()
    }

    fn remove(index: &mut Index, api: &PodGroupApi, (namespace, name): &Key) -> bool {
        let group = group(api, name);
        index.entry_mut(namespace).remove_pod_group(&group);
        index.unshown_groups.entry(namespace.clone()).or_default().insert(group);
        index.resize_gangs()
    }

    fn listed(index: &mut Index) -> bool {
        index.resize_gangs()
    }
}

fn group(api: &PodGroupApi, name: &Arc<str>) -> GroupName {
    GroupName { api_group: api.group, name: Arc::clone(name) }
}

impl Index {
    /// Tells all members of the gangs whose PodGroups have changed their size. Says whether that is news.
    fn resize_gangs(&mut self) -> bool {
        let Self { namespaces, metadata, unshown_groups, .. } = self;
        std::mem::take(unshown_groups).into_iter().fold(false, |changed, (namespace, groups)| {
            let Some(entry) = namespaces.get_mut(&namespace) else { return changed };
            let tied =
                |former: &PodMetadata, gang| metadata.get(PodMetadata { gang: Some(gang), ..former.clone() });
            entry.resize_gangs(&groups, tied) | changed
        })
    }
}

impl Index {
    /// The gang that `stated` means. One whose PodGroup was not seen has no size yet, and gets it when it is.
    pub(crate) fn gang(&self, namespace: &Namespace, stated: Stated) -> Gang {
        match stated {
            Stated::Whole(gang) => gang,
            Stated::Group(group) => {
                let unseen = Gang { name: group.gang(), min_available: 0 };
                self.entry(namespace).map_or(unseen, |entry| entry.gang_of_group(&group))
            }
        }
    }
}
