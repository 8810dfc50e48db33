//! The ResourceQuota through which a queue's share is enforced.

use crate::amounts::{Amount, Bounds, Resource};

/// The ResourceQuota `quotient` of a namespace, in resources of pods: `requests.cpu` is cpu here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// `spec.hard`: what was written last. A resource that it does not name is not restricted.
    pub hard: Bounds,
    /// `status.hard`: what admission enforces. Empty until the quota controller has filled it in.
    pub enforced: Bounds,
    /// Whether we wrote it. Somebody else's of the same name is taken over where a Queue governs the namespace, and
    /// elsewhere it says nothing.
    pub ours: bool,
    /// The largest amounts that writes of unknown outcome may still put in force. Empty if there are none.
    pub unconfirmed: Bounds,
    /// Whether it goes with its Queue: `quotient.dev/on-delete: Remove`, as the Queue's annotation last said.
    pub goes_with_queue: bool,
}

impl Quota {
    /// The most of `resource` that admission lets in now or once every write on its way has landed.
    pub fn ceiling(&self, resource: &Resource) -> Amount {
        [&self.hard, &self.enforced, &self.unconfirmed]
            .into_iter()
            .filter_map(|bounds| bounds.get(resource))
            .max()
            .unwrap_or_default()
    }

    /// Whether admission lets in no more than `amount` of `resource`, and no write on its way changes that.
    ///
    /// Only then is an eviction final: before, the owner of the evicted pod refills the slot.
    pub fn is_fenced_at(&self, resource: &Resource, amount: Amount) -> bool {
        self.enforced.get(resource).is_some_and(|enforced| enforced <= amount)
            && self.ceiling(resource) <= amount
    }
}
