//! The ResourceQuota through which a queue's share is enforced.

use serde::{Deserialize, Serialize};

use crate::amounts::{Amount, Amounts, Bounds, Resource};
use crate::names::QueueUid;

/// The ResourceQuota `quotient` of a namespace, in resources of pods: `requests.cpu` is cpu here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quota {
    /// `spec.hard`: what was written last. A resource that it does not name is not restricted.
    pub hard: Bounds,
    /// `status.hard`: what admission enforces. Empty until the quota controller has filled it in.
    pub enforced: Bounds,
    /// Whether we wrote it. A foreign one of the same name is taken over where a Queue governs the namespace, and
    /// elsewhere it says nothing.
    pub ours: bool,
    /// What the ledger says was granted; none where there is no ledger, or no entry in it. Then `hard` is what was granted.
    pub granted: Option<Bounds>,
    /// What the ledger says is free or being freed for the queue and not granted yet.
    pub owed: Amounts,
    /// The largest amounts that writes on their way may still put in force. Empty if there are none.
    pub unconfirmed: Bounds,
    /// What admission has charged its pods with, where that is newer than the pods that are seen: some of them are not
    /// seen yet. Empty where pods tell all there is.
    pub charged: Bounds,
    /// Whether it does not bear the stamp of what was granted, so that it has to be written whatever it says.
    pub unstamped: bool,
    /// Whether another writer changed or deleted it since it was written under the ledger, as far as its stamp tells. A quota
    /// that was granted and never created counts as deleted.
    pub drifted: bool,
    /// The Queue that its only owner reference names. Garbage collection deletes the quota once that Queue is gone.
    pub owner: Option<QueueUid>,
}

impl Quota {
    /// The most of `resource` that admission lets in now or once every write on its way has landed.
    pub fn ceiling(&self, resource: &Resource) -> Amount {
        self.all().filter_map(|bounds| bounds.get(resource)).max().unwrap_or_default()
    }

    /// The most of `resource` that was granted and may be in force: the ceiling without what another writer wrote.
    pub fn own_ceiling(&self, resource: &Resource) -> Amount {
        let Some(granted) = &self.granted else { return self.ceiling(resource) };
        granted.get(resource).max(self.unconfirmed.get(resource)).unwrap_or_default()
    }

    /// Every resource that it may restrict now or once every write on its way has landed, with its ceiling.
    pub fn ceilings(&self) -> Bounds {
        self.all().fold(Bounds::new(), |most, bounds| most.max(bounds))
    }

    /// What was granted, as far as is known; what it says where nothing else is.
    pub fn allocated(&self) -> &Bounds {
        self.granted.as_ref().unwrap_or(&self.hard)
    }

    /// Whether no write of earlier amounts can land any more.
    pub fn is_fenced(&self) -> bool {
        !self.unstamped && self.unconfirmed.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Bounds> {
        // What was granted may be landing whatever another writer has made of it.
        [&self.hard, &self.enforced, &self.unconfirmed].into_iter().chain(&self.granted)
    }

    /// Whether admission lets in no more than `amount` of `resource`, and no write on its way changes that.
    ///
    /// Only then is an eviction final: before, the owner of the evicted pod refills the slot.
    pub fn is_fenced_at(&self, resource: &Resource, amount: Amount) -> bool {
        self.enforced.get(resource).is_some_and(|enforced| enforced <= amount)
            && self.ceiling(resource) <= amount
    }
}
