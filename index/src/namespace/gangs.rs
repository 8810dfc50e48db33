//! The PodGroups of a namespace, and the gangs of its pods that they are the sizes of.

use std::sync::Arc;

use quotient_engine::snapshot::{Gang, Ties};

use super::NamespaceEntry;
use crate::gangs::GroupName;
use crate::table::Meta;

/// What is kept of a PodGroup.
#[derive(Debug)]
pub(crate) struct GroupNote {
    pub(crate) meta: Meta,
    /// How many of its members have to run.
    pub(crate) size: u32,
    /// In which version it was seen.
    pub(crate) place: usize,
}

impl NamespaceEntry {
    /// The size of this PodGroup, if it was seen.
    pub(crate) fn pod_group(&self, group: &GroupName) -> Option<u32> {
        Some(self.pod_groups.get(group)?.size)
    }

    /// Gives pods and owners that name this gang its size; `tied` makes ties like others with the gang in them. Says whether
    /// anything changed that a decision depends on.
    pub(crate) fn resize_gang(&mut self, gang: &Gang, mut tied: impl FnMut(&Ties) -> Arc<Ties>) -> bool {
        let is_other = |kept: &Option<Gang>| {
            kept.as_ref()
                .is_some_and(|kept| kept.name == gang.name && kept.min_available != gang.min_available)
        };
        let state = &self.state;
        let concerns_pods = state.pods.iter().any(|pod| is_other(&pod.ties.gang));
        if !concerns_pods && !state.owners.iter().any(|owner| is_other(&owner.gang)) {
            return false;
        }
        let state = Arc::make_mut(&mut self.state);
        for pod in state.pods.iter_mut().filter(|pod| is_other(&pod.ties.gang)) {
            pod.ties = tied(&pod.ties);
        }
        for owner in state.owners.iter_mut().filter(|owner| is_other(&owner.gang)) {
            owner.gang = Some(gang.clone());
        }
        concerns_pods || self.has_queues()
    }
}
