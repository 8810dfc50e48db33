//! Everything kept of one namespace, stored in the form that snapshots share.

mod budgets;
mod gangs;
mod owner_note;
mod owners;
mod pods;
mod queue_jobs;
mod queues;
mod quotas;
mod sizes;
mod to_come;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use quotient_snapshot::NamespaceState;
use quotient_snapshot::labels::Labels;
use quotient_snapshot::names::OwnerUid;

use crate::gangs::GroupName;
use crate::limit_ranges::ObservedLimitRange;
use crate::meta::{Age, Meta};
use crate::pod_requests::TemplateRequests;
use crate::queue_jobs::{QueueJobEntry, TaskJob};
use crate::quotas::{ForeignQuota, ObservedQuota};
use crate::sizes::{Autoscaler, DeploymentSize};

pub(crate) use gangs::GroupNote;
pub(crate) use owner_note::{OpenRequests, OwnerNote};
use queues::QueueEntry;
pub(crate) use sizes::SCALED;
use sizes::Sized;
pub(crate) use to_come::shaped;

/// One namespace. Its state is shared with snapshots and copied when it changes while one of them is alive.
///
/// Pods, Queues and budgets are sorted by name and owners by kind and name, which is the order in which the API
/// server lists them: a full list appends. What only the index needs to know of them stands in parallel vectors.
#[derive(Debug, Default)]
pub(crate) struct NamespaceEntry {
    state: Arc<NamespaceState>,
    pod_ages: Vec<Age>,
    queues: Vec<QueueEntry>,
    owners: Vec<OwnerNote>,
    /// Whether pods or owners have changed since owners were shown what their pods will request.
    incomplete: bool,
    budgets: Vec<Meta>,
    /// The templates of the owners among which the pods of one object are divided, by its uid, where there are several.
    pub(crate) divided: BTreeMap<OwnerUid, Vec<TemplateRequests>>,
    pub(crate) deployments: BTreeMap<Arc<str>, DeploymentSize>,
    pub(crate) autoscalers: BTreeMap<Arc<str>, Autoscaler>,
    sized: Sized,
    quota: Option<Arc<ObservedQuota>>,
    foreign_quotas: Vec<ForeignQuota>,
    limit_ranges: Vec<ObservedLimitRange>,
    /// PodGroups.
    pub(crate) pod_groups: BTreeMap<GroupName, GroupNote>,
    /// Those of them that a workload controls, by its uid. The Job controller makes one for a Job with `spec.scheduling`, and the
    /// template of the Job does not name it.
    groups_by_controller: BTreeMap<Arc<str>, BTreeSet<GroupName>>,
    /// QueueJobs as they were seen last, by name.
    pub(crate) queue_jobs: BTreeMap<Arc<str>, QueueJobEntry>,
    /// The Jobs of QueueJobs as they were seen last, by name.
    pub(crate) task_jobs: BTreeMap<Arc<str>, TaskJob>,
}

impl NamespaceEntry {
    /// What snapshots share.
    pub(crate) fn state(&self) -> &Arc<NamespaceState> {
        &self.state
    }

    /// Whether the index need not remember the namespace.
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_shown()
            && self.state.owners.is_empty()
            && self.state.budgets.is_empty()
            && self.deployments.is_empty()
            && self.autoscalers.is_empty()
            && self.foreign_quotas.is_empty()
            && self.limit_ranges.is_empty()
            && self.pod_groups.is_empty()
            && self.queue_jobs.is_empty()
            && self.task_jobs.is_empty()
    }

    /// Whether snapshots mention the namespace: it holds a pod, a Queue, a QueueJob or a quota, or one may still come. Where
    /// there is none of them nothing is shared out, whatever its owners want.
    pub(crate) fn is_shown(&self) -> bool {
        !self.state.pods.is_empty()
            || !self.state.queues.is_empty()
            || self.quota.is_some()
            || self.state.quota.is_some()
            || !self.state.queue_jobs.is_empty()
    }

    /// Whether a Queue in it governs its pods; a parent queue does not.
    pub(crate) fn is_managed(&self) -> bool {
        self.state.queues.iter().any(|queue| queue.children.is_none())
    }

    /// Whether there is a Queue in it: only then owners, budgets and the quotas of others make a difference.
    fn has_queues(&self) -> bool {
        !self.queues.is_empty()
    }

    /// Shows the namespace with these labels, and whether it is being deleted. Says whether that is news.
    pub(crate) fn show_namespace(&mut self, labels: Labels, terminating: bool) -> bool {
        let changed = self.state.labels != labels || self.state.terminating != terminating;
        if changed {
            let state = Arc::make_mut(&mut self.state);
            (state.labels, state.terminating) = (labels, terminating);
        }
        changed
    }
}

/// Keeps `one` at its place in a sorted list, instead of what is kept there.
///
/// The list grows by an eighth where a vector would double: at 150,000 pods, doubling may waste as much as it holds.
fn keep<T>(list: &mut Vec<T>, place: Result<usize, usize>, one: T) {
    match place {
        Ok(at) => {
            if let Some(kept) = list.get_mut(at) {
                *kept = one;
            }
        }
        Err(at) => {
            if list.len() == list.capacity() {
                list.reserve_exact((list.len() / 8).max(1));
            }
            list.insert(at, one);
        }
    }
}
