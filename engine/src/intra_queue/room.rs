//! The room of one queue: what admission will let in once everything on its way out is gone, and what it lets in now.

use crate::amounts::{Amounts, Resource};
use crate::choice::QueueState;
use crate::plan::QueuePlan;
use crate::reasons::ShortReason;

/// How much of a queue is taken, and how much there is.
#[derive(Clone, Debug)]
pub(super) struct QueueRoom {
    /// What there will be.
    cap: Amounts,
    /// What there is now.
    cap_now: Amounts,
    /// What will be taken, units that were promised room included.
    used: Amounts,
    /// What is taken now, the same units included.
    used_now: Amounts,
}

impl QueueRoom {
    /// The room of `queue_state`, whose numbers are `decided`, when pods that request `going` are on their way out.
    pub(super) fn of(
        queue_state: &QueueState<'_>,
        decided: &QueuePlan,
        going: &Amounts,
        resources: &[Resource],
    ) -> Self {
        // What others give back comes by itself; no pod of its own has to go for it.
        let promised = matches!(
            decided.starved,
            Some(
                ShortReason::WaitingForPreemption
                    | ShortReason::WaitingForQuota
                    | ShortReason::WaitingForLedger
            )
        );
        let enforced = queue_state.leaf.state.quota.as_ref().map(|quota| &quota.enforced);
        let (mut cap, mut cap_now) = (Amounts::new(), Amounts::new());
        for resource in resources {
            let allocated = queue_state.allocated.get(resource);
            let hoped = if promised { allocated.max(queue_state.target.get(resource)) } else { allocated };
            let in_force = enforced.and_then(|enforced| enforced.get(resource)).unwrap_or_default();
            let foreign = queue_state.leaf.state.foreign_quotas.get(resource);
            let within = |amount| foreign.map_or(amount, |foreign| foreign.min(amount));
            cap.set(resource, within(hoped));
            cap_now.set(resource, within(allocated.min(in_force)));
        }
        let used_now = queue_state.leaf.namespace_usage.charged.clone();
        Self { cap, cap_now, used: used_now.less(going), used_now }
    }

    /// What is lacking for more pods that request `requests`, once pods that hold `freed` are gone.
    pub(super) fn lacks(&self, requests: &Amounts, freed: &Amounts) -> Amounts {
        let used = self.used.plus(requests).less(freed);
        used.less(&self.cap).only(|one, _| requests.offers(one))
    }

    /// What is lacking for those that were promised room.
    pub(super) fn lacks_already(&self, freed: &Amounts) -> Amounts {
        self.used.less(freed).less(&self.cap).only(|one, _| self.cap.offers(one))
    }

    /// Whether admission lets such pods in now.
    pub(super) fn has_now(&self, requests: &Amounts) -> bool {
        requests.iter().all(|(one, amount)| self.used_now.get(one) + amount <= self.cap_now.get(one))
    }

    /// Pods that are not there yet are promised room.
    pub(super) fn book(&mut self, requests: &Amounts) {
        self.used.add_all(requests);
        self.used_now.add_all(requests);
    }
}
