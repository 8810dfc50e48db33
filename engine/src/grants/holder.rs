//! What a leaf has now: its quota and its pods.

use crate::amounts::{Amount, Resource};
use crate::snapshot::Quota;
use crate::usage::NamespaceUsage;

/// What is known of one leaf when grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) quota: Option<&'a Quota>,
    pub(crate) namespace_usage: &'a NamespaceUsage,
}

impl Holder<'_> {
    /// What it was granted last, whatever somebody else has made of its quota; what is charged if nothing was.
    pub(crate) fn allocated(&self, resource: &Resource) -> Amount {
        self.quota
            .and_then(|quota| quota.allocated().get(resource))
            .unwrap_or_else(|| self.namespace_usage.charged.get(resource))
    }

    /// What a quota of ours was to say of `resource` when it was written last.
    pub(crate) fn written(&self, resource: &Resource) -> Option<Amount> {
        self.quota.filter(|quota| quota.ours).and_then(|quota| quota.allocated().get(resource))
    }

    /// The most that it can still occupy by what was granted, without what somebody else wrote into its quota.
    pub(crate) fn own_hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.quota.map(|quota| quota.own_ceiling(resource)).unwrap_or_default();
        ceiling.max(self.namespace_usage.charged.get(resource))
    }

    /// The most that it can still occupy, as far as has been observed: its hold.
    pub(crate) fn hold(&self, resource: &Resource) -> Amount {
        self.quota.map(|quota| quota.ceiling(resource)).unwrap_or_default().max(self.charged(resource))
    }

    /// What admission has charged, pods that are not seen yet included.
    pub(crate) fn charged(&self, resource: &Resource) -> Amount {
        let unseen = self.quota.and_then(|quota| quota.charged.get(resource)).unwrap_or_default();
        unseen.max(self.namespace_usage.charged.get(resource))
    }
}
