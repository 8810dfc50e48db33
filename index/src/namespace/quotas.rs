//! The quotas and LimitRanges of a namespace: ours, and what those of others bound or give a default for.

use std::sync::Arc;

use quotient_snapshot::amounts::{Amount, Amounts, Resource};
use quotient_snapshot::{Quota, Unspecified};

use super::{NamespaceEntry, keep};
use crate::limit_ranges::ObservedLimitRange;
use crate::pod_requests::Defaultable;
use crate::quotas::{ForeignQuota, ObservedQuota, lowest};

impl NamespaceEntry {
    /// The quota as it was seen last.
    pub(crate) fn observed_quota(&self) -> Option<&Arc<ObservedQuota>> {
        self.quota.as_ref()
    }

    /// The quota is now this one, or gone. Says whether its next write has to test something else, or admission has
    /// charged less: then there may be room again for pods that it refused.
    pub(crate) fn observe_quota(&mut self, observed: Option<ObservedQuota>) -> bool {
        let before = std::mem::replace(&mut self.quota, observed.map(Arc::new));
        let (before, after) = (before.as_deref(), self.quota.as_deref());
        let charged =
            |quota: Option<&ObservedQuota>| quota.map(|quota| quota.charged.clone()).unwrap_or_default();
        let (most, now) = (charged(before), charged(after));
        before.map(ObservedQuota::stamp) != after.map(ObservedQuota::stamp) || most.max(&now) != now
    }

    /// Shows snapshots this quota. Says whether it is another than before, in a way that calls for a decision: what is
    /// charged ahead of its pods only keeps others back, until it is less.
    pub(crate) fn show_quota(&mut self, quota: Option<Quota>) -> bool {
        if self.state.quota == quota {
            return false;
        }
        let calls = match (&self.state.quota, &quota) {
            (Some(before), Some(after)) => {
                let same = Quota { charged: after.charged.clone(), ..before.clone() } == *after;
                !same || before.charged.max(&after.charged) != after.charged
            }
            _ => true,
        };
        Arc::make_mut(&mut self.state).quota = quota;
        calls
    }

    /// What is kept of a quota that is not Quotient's.
    pub(crate) fn foreign_quota(&self, name: &str) -> Option<&ForeignQuota> {
        self.foreign_quotas.get(self.find_foreign_quota(name).ok()?)
    }

    /// Keeps a quota that is not Quotient's. Says whether that changes what a Queue may get.
    pub(crate) fn put_foreign_quota(&mut self, quota: ForeignQuota) -> bool {
        let place = self.find_foreign_quota(&quota.name);
        keep(&mut self.foreign_quotas, place, quota);
        self.show_foreign_quotas()
    }

    /// Forgets a quota that is not Quotient's. Says whether that changes what a Queue may get.
    pub(crate) fn remove_foreign_quota(&mut self, name: &str) -> bool {
        let Ok(at) = self.find_foreign_quota(name) else { return false };
        self.foreign_quotas.remove(at);
        self.show_foreign_quotas()
    }

    /// The names of the quotas of others, in order.
    pub(crate) fn foreign_quota_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.foreign_quotas.iter().map(|quota| quota.name.clone())
    }

    fn show_foreign_quotas(&mut self) -> bool {
        let bounds = lowest(&self.foreign_quotas);
        if self.state.foreign_quotas == bounds {
            return false;
        }
        Arc::make_mut(&mut self.state).foreign_quotas = bounds;
        self.has_queues()
    }

    fn find_foreign_quota(&self, name: &str) -> Result<usize, usize> {
        self.foreign_quotas.binary_search_by(|quota| (*quota.name).cmp(name))
    }
}

impl NamespaceEntry {
    /// The LimitRange of this name as it was seen last.
    pub(crate) fn limit_range(&self, name: &str) -> Option<&ObservedLimitRange> {
        self.limit_ranges.get(self.find_limit_range(name).ok()?)
    }

    /// Keeps a LimitRange. Says whether it calls for another look at what is to be written.
    pub(crate) fn put_limit_range(&mut self, observed: ObservedLimitRange) -> bool {
        let place = self.find_limit_range(&observed.name);
        let kept = place.ok().and_then(|at| self.limit_ranges.get(at));
        let is_news = kept.is_none_or(|kept| !kept.is_like(&observed));
        let matters = is_news && (self.has_queues() || observed.ours);
        keep(&mut self.limit_ranges, place, observed);
        matters
    }

    /// Forgets a LimitRange.
    pub(crate) fn remove_limit_range(&mut self, name: &str) {
        if let Ok(at) = self.find_limit_range(name) {
            self.limit_ranges.remove(at);
        }
    }

    /// The names of the LimitRanges, in order.
    pub(crate) fn limit_range_names(&self) -> impl Iterator<Item = Arc<str>> {
        self.limit_ranges.iter().map(|kept| kept.name.clone())
    }

    /// Whether a LimitRange that Quotient does not keep gives containers a default for `resource`.
    pub(crate) fn others_default(&self, resource: &Resource) -> bool {
        self.limit_ranges.iter().any(|kept| !kept.ours && kept.defaults.get(resource).is_some())
    }

    /// What of it no LimitRange gives containers a default for, and none of the namespace's Queues will.
    pub(crate) fn without_default(&self, unspecified: Unspecified) -> Unspecified {
        let has_default = |one: &Resource| {
            self.limit_ranges.iter().any(|kept| kept.defaults.get(one).is_some())
                || self.queue_default(one).is_some()
        };
        Unspecified {
            cpu: unspecified.cpu && !has_default(&Resource::Cpu),
            memory: unspecified.memory && !has_default(&Resource::Memory),
        }
    }

    /// What containers request of `resource` that do not say it: by the LimitRanges there are, or by the one that is to come.
    fn container_default(&self, resource: &Resource) -> Amount {
        let stated = self.limit_ranges.iter().filter_map(|kept| kept.defaults.get(resource)).max();
        stated.or_else(|| self.queue_default(resource)).unwrap_or_default()
    }

    /// What the pods of a template request, with what LimitRanges fill in when they are created.
    pub(crate) fn filled(&self, requests: &Amounts, defaultable: &Defaultable) -> Amounts {
        defaultable.fill(requests, |resource| self.container_default(resource))
    }

    fn find_limit_range(&self, name: &str) -> Result<usize, usize> {
        self.limit_ranges.binary_search_by(|kept| (*kept.name).cmp(name))
    }
}
