//! What a leaf may occupy by its quota and its pods.

use super::Leaf;
use crate::amounts::{Amount, Amounts, Resource};
use crate::keyed::counts;
use crate::snapshot::{Pod, QueueTask};
use crate::total::total;

impl Leaf<'_> {
    /// What it was granted last, whatever another writer has made of its quota; what is charged if nothing was.
    pub(crate) fn granted(&self, resource: &Resource) -> Amount {
        let quota = self.state.quota.as_ref();
        quota
            .and_then(|quota| quota.allocated().get(resource))
            .unwrap_or_else(|| self.namespace_usage.charged.get(resource))
    }

    /// What a quota of ours was to say of `resource` when it was written last.
    pub(crate) fn written(&self, resource: &Resource) -> Option<Amount> {
        self.state.quota.as_ref().filter(|quota| quota.ours)?.allocated().get(resource)
    }

    /// The most that it can still occupy by what was granted, without what another writer wrote into its quota.
    pub(crate) fn own_hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.state.quota.as_ref().map(|quota| quota.own_ceiling(resource)).unwrap_or_default();
        ceiling.max(self.namespace_usage.charged.get(resource))
    }

    /// The most that it can still occupy, as far as has been observed: its hold.
    pub(crate) fn hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.state.quota.as_ref().map(|quota| quota.ceiling(resource)).unwrap_or_default();
        ceiling.max(self.admitted(resource))
    }

    /// What admission has charged, pods that are not seen yet included.
    pub(crate) fn admitted(&self, resource: &Resource) -> Amount {
        let charged = self.state.quota.as_ref().and_then(|quota| quota.charged.get(resource));
        charged.unwrap_or_default().max(self.namespace_usage.charged.get(resource))
    }

    /// Whether it holds more than it will once its quota allows what is `allocated`.
    pub(crate) fn falls_to(&self, allocated: &Amounts, resources: &[Resource]) -> bool {
        let charged = &self.namespace_usage.charged;
        resources.iter().any(|one| self.hold(one) > allocated.get(one).max(charged.get(one)))
    }

    /// What those of its QueueJobs' pods request that are more than their Jobs may run: the Job controller removes them. It
    /// counts where a queue is above its limit, as admission lets in too much for a moment now and then, and a slot given
    /// back is all that is needed.
    pub(crate) fn withdrawn(&self) -> Amounts {
        if self.state.queue_jobs.is_empty() {
            return Amounts::new();
        }
        let live = counts(self.state.pods.iter().filter(|pod| pod.is_live()).filter_map(Pod::owner));
        let withdrawn = |task: &QueueTask| {
            let live = live.get(&task.owner).copied().unwrap_or_default();
            task.shape.requests.times(live.saturating_sub(task.parallelism))
        };
        total(self.state.queue_jobs.iter().flat_map(|job| &job.tasks).map(withdrawn))
    }
}
