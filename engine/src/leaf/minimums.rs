//! How many pods of a gang still have to run together: what has succeeded counts.

use std::collections::BTreeMap;

use crate::names::GangName;
use crate::snapshot::{Gang, Owner, QueueJob};

/// What is left of the minimums of the gangs in one namespace.
#[derive(Debug, Default)]
pub(crate) struct GangMinimums<'a> {
    /// The QueueJobs, by the gang of their pods.
    pub(crate) queue_jobs: BTreeMap<GangName, &'a QueueJob>,
    /// How many pods have succeeded of the Jobs whose pods are members.
    succeeded: BTreeMap<&'a GangName, u32>,
}

impl<'a> GangMinimums<'a> {
    /// Of the gangs of these owners and QueueJobs.
    pub(crate) fn of(owners: &'a [Owner], queue_jobs: &'a [QueueJob]) -> Self {
        let queue_jobs = queue_jobs.iter().map(|job| (QueueJob::gang_name(&job.name), job)).collect();
        let mut succeeded: BTreeMap<&GangName, u32> = BTreeMap::new();
        for owner in owners.iter().filter(|owner| owner.succeeded > 0) {
            let Some(gang) = &owner.gang else { continue };
            let count = succeeded.entry(&gang.name).or_default();
            *count = count.saturating_add(owner.succeeded);
        }
        Self { queue_jobs, succeeded }
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
