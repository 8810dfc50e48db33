//! What is known of one namespace's quota: seen, and written.

use std::sync::Arc;

use quotient_engine::amounts::Bounds;
use quotient_engine::snapshot::Quota;

use super::{ObservedQuota, QuotaUid};

/// The quota that was seen, and the writes of it whose outcome is not known.
#[derive(Debug, Default)]
pub(crate) struct QuotaEntry {
    observed: Option<Arc<ObservedQuota>>,
    unconfirmed: Vec<UnconfirmedWrite>,
}

#[derive(Debug, PartialEq, Eq)]
struct UnconfirmedWrite {
    hard: Bounds,
    /// What the write tests before it lands; none for a create.
    based_on: Option<Stamp>,
}

/// Which life of the quota, and which generation of it. A write lands only on the stamp that it was based on and
/// leaves another one behind.
pub(crate) type Stamp = (QuotaUid, Option<u64>);

impl UnconfirmedWrite {
    /// Whether it can change a quota that was seen with `stamp`: otherwise it is part of what was seen, or refused
    /// for ever.
    fn may_still_land_on(&self, stamp: &Stamp) -> bool {
        self.based_on.as_ref() == Some(stamp)
    }
}

impl QuotaEntry {
    /// What was seen last.
    pub(crate) fn observed(&self) -> Option<&Arc<ObservedQuota>> {
        self.observed.as_ref()
    }

    /// Whether there is no quota and none is being written.
    pub(crate) fn is_empty(&self) -> bool {
        self.observed.is_none() && self.unconfirmed.is_empty()
    }

    /// What makes a difference to the operator beyond the amounts.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        self.observed.as_ref().map(|observed| observed.stamp())
    }

    /// Whether a write is on its way.
    pub(crate) fn is_unconfirmed(&self) -> bool {
        !self.unconfirmed.is_empty()
    }

    /// The quota is now this one.
    pub(crate) fn seen(&mut self, observed: ObservedQuota) {
        let stamp = observed.stamp();
        self.unconfirmed.retain(|write| write.may_still_land_on(&stamp));
        self.observed = Some(Arc::new(observed));
    }

    /// The quota is gone. A write based on it fails by now; only a create may still land.
    pub(crate) fn deleted(&mut self) {
        self.unconfirmed.retain(|write| write.based_on.is_none());
        self.observed = None;
    }

    /// A write of unknown outcome is on its way.
    pub(crate) fn written(&mut self, hard: Bounds, based_on: Option<Stamp>) {
        let write = UnconfirmedWrite { hard, based_on };
        let settled = self.stamp().is_some_and(|stamp| !write.may_still_land_on(&stamp));
        // The same write tried again is no second one.
        if !settled && !self.unconfirmed.contains(&write) {
            self.unconfirmed.push(write);
        }
    }

    /// No write is on its way.
    pub(crate) fn confirmed(&mut self) {
        self.unconfirmed.clear();
    }

    /// The quota as the engine reads it.
    pub(crate) fn merged(&self) -> Option<Quota> {
        if self.is_empty() {
            return None;
        }
        let observed = self.observed.as_deref();
        let mut unconfirmed = Bounds::new();
        for write in &self.unconfirmed {
            for (resource, amount) in write.hard.iter() {
                let most = unconfirmed.get(resource).map_or(amount, |other| other.max(amount));
                unconfirmed.set(resource.clone(), most);
            }
        }
        // Once a write of ours has landed it is ours, and it may be landing now.
        let ours = self.is_unconfirmed() || observed.is_some_and(|observed| observed.ours);
        Some(Quota {
            hard: observed.map(|observed| observed.hard.clone()).unwrap_or_default(),
            enforced: observed.map(|observed| observed.enforced.clone()).unwrap_or_default(),
            ours,
            unconfirmed,
            goes_with_queue: observed.is_some_and(|observed| observed.goes_with_queue),
        })
    }
}
