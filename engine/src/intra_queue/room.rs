//! The room of one queue: what admission will let in once everything on its way out is gone, and what it lets in now.

use crate::amounts::{Amounts, Bounds, Resource};
use crate::choice::QueueState;
use crate::plan::QueuePlan;
use crate::reason::Reason;

/// How much of a queue is taken, and how much there is.
#[derive(Clone, Debug)]
pub(super) struct QueueRoom {
    /// What there will be. A resource that it does not name is not bounded.
    cap: Bounds,
    /// What there is now.
    cap_now: Bounds,
    /// What will be taken, asks that were promised room included.
    used: Amounts,
    /// What is taken now, the same asks included.
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
        // What others give back comes by itself; nobody of one's own has to go for it.
        let comes = |reason: Reason| {
            matches!(
                reason,
                Reason::WaitingForPreemption | Reason::WaitingForQuota | Reason::WaitingForLedger
            )
        };
        let promised = decided.starved.is_some_and(comes);
        let foreign = &queue_state.state.foreign_quotas;
        let enforced = queue_state.state.quota.as_ref().map(|quota| &quota.enforced);
        let (mut cap, mut cap_now) = (Bounds::new(), Bounds::new());
        for resource in resources {
            let allocated = queue_state.allocated.get(resource);
            let hoped = if promised { allocated.max(queue_state.target.get(resource)) } else { allocated };
            let in_force = enforced.and_then(|enforced| enforced.get(resource)).unwrap_or_default();
            cap.set(resource.clone(), hoped);
            cap_now.set(resource.clone(), allocated.min(in_force));
        }
        for (resource, amount) in foreign.iter() {
            for cap in [&mut cap, &mut cap_now] {
                let least = cap.get(resource).map_or(amount, |known| known.min(amount));
                cap.set(resource.clone(), least);
            }
        }
        let used_now = queue_state.namespace_usage.charged.clone();
        Self { cap, cap_now, used: used_now.less(going), used_now }
    }

    /// What is lacking for one more pod that requests `requests`.
    pub(super) fn lacks(&self, requests: &Amounts) -> Amounts {
        let lacking = requests.iter().filter_map(|(resource, amount)| {
            let cap = self.cap.get(resource)?;
            Some((resource.clone(), (self.used.get(resource) + amount).less(cap)))
        });
        lacking.collect()
    }

    /// Whether admission lets such a pod in now.
    pub(super) fn has_now(&self, requests: &Amounts) -> bool {
        requests.iter().all(|(resource, amount)| {
            self.cap_now.get(resource).is_none_or(|cap| self.used_now.get(resource) + amount <= cap)
        })
    }

    /// A pod that is not there yet is promised room.
    pub(super) fn book(&mut self, requests: &Amounts) {
        self.used.add_all(requests);
        self.used_now.add_all(requests);
    }

    /// A pod goes.
    pub(super) fn give(&mut self, requests: &Amounts) {
        self.used.subtract_all(requests);
    }
}
