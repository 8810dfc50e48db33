//! What a leaf has now: its quota and its pods.

use crate::amounts::{Amount, Resource};
use crate::census::Headcount;
use crate::snapshot::Quota;

/// What is known of one leaf when grants are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holder<'a> {
    pub(crate) quota: Option<&'a Quota>,
    pub(crate) headcount: &'a Headcount,
}

impl Holder<'_> {
    /// What its quota allows as it was written last; what is charged if it restricts nothing.
    pub(crate) fn allocated(&self, resource: &Resource) -> Amount {
        self.quota
            .and_then(|quota| quota.hard.get(resource))
            .unwrap_or_else(|| self.headcount.charged.get(resource))
    }

    /// What a quota of ours says of `resource`, as it was written last.
    pub(crate) fn written(&self, resource: &Resource) -> Option<Amount> {
        self.quota.filter(|quota| quota.ours).and_then(|quota| quota.hard.get(resource))
    }

    /// The most that it can still occupy, as far as has been observed: its hold.
    pub(crate) fn hold(&self, resource: &Resource) -> Amount {
        let ceiling = self.quota.map(|quota| quota.ceiling(resource)).unwrap_or_default();
        ceiling.max(self.headcount.charged.get(resource))
    }
}
