//! The PodGroups of a namespace, and the gangs of its pods that they are the sizes of.

use std::sync::Arc;

use quotient_snapshot::names::OwnerUid;
use quotient_snapshot::{Gang, Owner, PodMetadata};

use super::NamespaceEntry;
use crate::gangs::GroupName;
use crate::meta::Meta;

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
    /// Keeps a PodGroup.
    pub(crate) fn put_pod_group(&mut self, group: GroupName, note: GroupNote) {
        self.remove_pod_group(&group);
        if let Some(controller) = &note.controller {
            self.groups_by_controller.insert(controller.clone(), group.clone());
        }
        self.pod_groups.insert(group, note);
    }

    /// Forgets a PodGroup. Returns what was kept of it.
    pub(crate) fn remove_pod_group(&mut self, group: &GroupName) -> Option<GroupNote> {
        let note = self.pod_groups.remove(group)?;
        if let Some(controller) = &note.controller {
            self.groups_by_controller.remove(controller);
        }
        Some(note)
    }

    /// Gives pods and owners that name this gang, and the owner that controls it and names none, its size; `tied` makes their
    /// metadata like others with the gang in it. Says whether anything changed that a decision depends on.
    pub(crate) fn resize_gang(
        &mut self,
        gang: &Gang,
        controller: Option<&OwnerUid>,
        mut tied: impl FnMut(&PodMetadata) -> Arc<PodMetadata>,
    ) -> bool {
        let is_other = |kept: &Option<Gang>| {
            kept.as_ref()
                .is_some_and(|kept| kept.name == gang.name && kept.min_available != gang.min_available)
        };
        let controls = |owner: &Owner| owner.gang.is_none() && controller == Some(&owner.uid);
        let concerns = |owner: &&Owner| is_other(&owner.gang) || (gang.min_available > 0 && controls(owner));
        let state = &self.state;
        let concerns_pods = state.pods.iter().any(|pod| is_other(&pod.metadata.gang));
        if !concerns_pods && !state.owners.iter().any(|owner| concerns(&owner)) {
            return false;
        }
        let state = Arc::make_mut(&mut self.state);
        for pod in state.pods.iter_mut().filter(|pod| is_other(&pod.metadata.gang)) {
            pod.metadata = tied(&pod.metadata);
        }
        for owner in state.owners.iter_mut().filter(|owner| concerns(&&**owner)) {
            owner.gang = Some(gang.clone());
        }
        concerns_pods || self.has_queues()
    }
}
