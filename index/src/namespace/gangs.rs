//! The PodGroups of a namespace, and the gangs of its pods that they are the sizes of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_snapshot::names::{GangName, OwnerUid};
use quotient_snapshot::{Gang, Owner, Pod, PodMetadata};

use super::{NamespaceEntry, OwnerNote};
use crate::gangs::GroupName;
use crate::meta::Meta;
use crate::owner_references::MARK;

/// What is kept of a PodGroup.
#[derive(Debug)]
pub(crate) struct GroupNote {
    pub(crate) meta: Meta,
    /// How many of its members have to run.
    pub(crate) size: u32,
    /// The name of the API that showed it last.
    pub(crate) api: &'static str,
    /// The uid of the workload that controls it: the pods of that one are its members.
    pub(crate) controller: Option<OwnerUid>,
}

impl NamespaceEntry {
    /// Keeps a PodGroup. Says whether it is the size of other gangs than before, or of none.
    pub(crate) fn put_pod_group(&mut self, group: GroupName, note: GroupNote) -> bool {
        let said = |note: &GroupNote| (note.size, note.controller.clone());
        let changed = self.pod_groups.get(&group).map(said) != Some(said(&note));
        self.remove_pod_group(&group);
        if let Some(controller) = &note.controller {
            self.groups_by_controller.entry(controller.shared()).or_default().insert(group.clone());
        }
        self.pod_groups.insert(group, note);
        changed
    }

    /// Forgets a PodGroup.
    pub(crate) fn remove_pod_group(&mut self, group: &GroupName) {
        let Some(controller) = self.pod_groups.remove(group).and_then(|note| note.controller) else { return };
        if let Some(groups) = self.groups_by_controller.get_mut(controller.as_str()) {
            groups.remove(group);
            if groups.is_empty() {
                self.groups_by_controller.remove(controller.as_str());
            }
        }
    }

    /// The gang that this PodGroup is the size of. One that was not seen has no size yet.
    pub(crate) fn gang_of_group(&self, group: &GroupName) -> Gang {
        let min_available = self.pod_groups.get(group).map_or(0, |seen| seen.size);
        Gang { name: group.gang(), min_available }
    }

    /// The gang of the pods of an owner whose object controls a PodGroup: the first by name.
    pub(crate) fn gang_by_controller(&self, owner: &OwnerUid) -> Option<Gang> {
        let object = owner.as_str().split(MARK).next()?;
        let group = self.groups_by_controller.get(object)?.first()?;
        Some(self.gang_of_group(group))
    }

    /// Gives pods and owners that name one of these PodGroups its size, and the owners that name none the gang that they control;
    /// `tied` makes metadata of pods like others with this gang in it. Says whether anything changed that a decision depends on.
    ///
    /// Looks at every owner and every pod once, however many groups there are.
    pub(crate) fn resize_gangs(
        &mut self,
        groups: &BTreeSet<GroupName>,
        mut tied: impl FnMut(&PodMetadata, Gang) -> Arc<PodMetadata>,
    ) -> bool {
        let gangs = groups.iter().map(|group| self.gang_of_group(group));
        let gangs: BTreeMap<GangName, Gang> = gangs.map(|gang| (gang.name.clone(), gang)).collect();
        let resized = |kept: &Gang| gangs.get(&kept.name).filter(|gang| **gang != *kept).cloned();
        let of_owner = |entry: &Self, owner: &Owner, note: &OwnerNote| {
            let now = match &owner.gang {
                Some(kept) if note.states_gang => Some(resized(kept).unwrap_or_else(|| kept.clone())),
                _ => entry.gang_by_controller(&owner.uid),
            };
            (now != owner.gang).then_some(now)
        };
        let changed = self.change_owners(of_owner, |owner, gang| owner.gang = gang);
        let of_pod = |pod: &Pod| pod.metadata.gang.as_ref().and_then(resized);
        if !self.state.pods.iter().any(|pod| of_pod(pod).is_some()) {
            return changed;
        }
        for pod in &mut Arc::make_mut(&mut self.state).pods {
            if let Some(gang) = of_pod(pod) {
                pod.metadata = tied(&pod.metadata, gang);
            }
        }
        true
    }
}
