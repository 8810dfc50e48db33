//! How many pods of a gang still have to run together: what has succeeded counts.

use std::collections::BTreeMap;

use crate::names::GangName;
use crate::snapshot::{Gang, NamespaceState, QueueJob};

/// What is left of the minimums of the gangs in one namespace.
#[derive(Debug, Default)]
pub(crate) struct GangMinimums<'a> {
    /// The QueueJobs, by the gang of their pods.
    pub(crate) queue_jobs: BTreeMap<GangName, &'a QueueJob>,
    /// How many pods have succeeded of the Jobs whose pods are members.
    succeeded: BTreeMap<&'a GangName, u32>,
}

impl<'a> GangMinimums<'a> {
    /// Of the gangs in one namespace.
    pub(crate) fn of(state: &'a NamespaceState) -> Self {
        let queue_jobs = state.queue_jobs.iter().map(|job| (QueueJob::gang_name(&job.name), job)).collect();
        let mut succeeded: BTreeMap<&GangName, u32> = BTreeMap::new();
        for owner in state.owners.iter().filter(|owner| owner.succeeded > 0) {
            let Some(gang) = &owner.gang else { continue };
            let count = succeeded.entry(&gang.name).or_default();
            *count = count.saturating_add(owner.succeeded);
        }
        Self { queue_jobs, succeeded }
    }

    /// What is left of the minimum of one gang, of which `stated` is what its members and owners say.
    pub(crate) fn of_gang<'g>(&self, stated: impl Iterator<Item = &'g Gang>) -> u32 {
        stated.map(|gang| self.left(gang)).max().unwrap_or_default()
    }

    /// What is left of the minimum of `gang`.
    pub(crate) fn left(&self, gang: &Gang) -> u32 {
        match self.queue_jobs.get(&gang.name) {
            Some(job) => job.floor(),
            None => {
                gang.min_available.saturating_sub(self.succeeded.get(&gang.name).copied().unwrap_or_default())
            }
        }
    }
}
