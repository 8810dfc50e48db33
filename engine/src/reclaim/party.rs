//! One leaf, after grants are made.

use rustc_hash::FxHashMap;

use crate::amounts::{Amount, Amounts, Resource};
use crate::census::Headcount;
use crate::demand::{Ask, Trust};
use crate::names::{OwnerUid, QueueName};
use crate::snapshot::{EvictionRules, NamespaceState, Pod, Queue};

/// One leaf, after grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party<'a> {
    pub(crate) name: &'a QueueName,
    pub(crate) queue: &'a Queue,
    pub(crate) state: &'a NamespaceState,
    pub(crate) headcount: &'a Headcount,
    pub(crate) deserved: &'a Amounts,
    pub(crate) allocated: &'a Amounts,
    /// The owners of it that want more pods than there are, most important first.
    pub(crate) asks: &'a [Ask<'a>],
    /// Which of its pods do not count, and how many of those that its owners lack do.
    pub(crate) trust: &'a Trust,
    /// What may be taken from it, inherited rules included.
    pub(crate) eviction: EvictionRules,
    /// Whether its pods are never evicted, by policy.
    pub(crate) spared: bool,
}

impl Party<'_> {
    /// What it is promised and does not have yet.
    ///
    /// What its own pods hold is not missing, whatever its quota allows: nobody goes for it.
    pub(crate) fn promised(&self, resource: &Resource) -> Amount {
        self.deserved.get(resource).less(self.settled(resource))
    }

    /// What it occupies once every lowered quota is in force and everything on its way out is gone.
    pub(crate) fn settled(&self, resource: &Resource) -> Amount {
        self.allocated.get(resource).max(self.headcount.staying(resource))
    }

    /// What its quota has room for beside the pods that stay.
    pub(crate) fn room(&self) -> Amounts {
        self.allocated.less(&self.headcount.all_staying())
    }

    /// What its pods hold above its share and are not about to give back.
    pub(crate) fn overuse(&self, resource: &Resource) -> Amount {
        self.headcount.staying(resource).less(self.deserved.get(resource).max(self.allocated.get(resource)))
    }

    /// What its pods hold above its limit and are not about to give back.
    pub(crate) fn above_limit(&self, resource: &Resource) -> Amount {
        let above = |limit| self.headcount.staying(resource).less(limit);
        let above = self.queue.limit.get(resource).map(above).unwrap_or_default();
        let gives_back = above.is_positive() && !self.state.queue_jobs.is_empty();
        if gives_back { above.less(self.withdrawn(resource)) } else { above }
    }

    /// What those of its QueueJobs' pods request that are more than their Jobs may run: the Job controller removes them. It
    /// counts where a queue is above its limit, as admission lets in too much for a moment now and then, and a slot given
    /// back is all that is needed.
    fn withdrawn(&self, resource: &Resource) -> Amount {
        let mut pods: FxHashMap<&OwnerUid, u32> = FxHashMap::default();
        for owner in self.state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner) {
            let count = pods.entry(owner).or_default();
            *count = count.saturating_add(1);
        }
        let mut withdrawn = Amount::ZERO;
        for task in self.state.queue_jobs.iter().flat_map(|job| &job.tasks) {
            let pods = pods.get(&task.owner).copied().unwrap_or_default();
            withdrawn += task.shape.requests.times(pods.saturating_sub(task.parallelism)).get(resource);
        }
        withdrawn
    }

    /// Whether admission lets in no more of `resources` than it is allocated, and knows of more: only then is an eviction
    /// final, and needed.
    ///
    /// What admission has charged is known here only where the quota is newer than every pod that is seen. If that is no
    /// more than is allocated, the pods that are seen are gone.
    pub(crate) fn is_fenced<'r>(&self, resources: impl IntoIterator<Item = &'r Resource>) -> bool {
        let Some(quota) = &self.state.quota else { return false };
        let mut is_over = false;
        resources.into_iter().all(|resource| {
            let allocated = self.allocated.get(resource);
            is_over |= quota.charged.get(resource).is_none_or(|charged| charged > allocated);
            quota.is_fenced_at(resource, allocated)
        }) && is_over
    }
}
