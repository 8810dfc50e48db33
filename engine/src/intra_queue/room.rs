//! The room of one queue: what admission will let in once everything on its way out is gone, and what it lets in now.

use crate::amounts::Amounts;
use crate::choice::{Context, QueueState};
use crate::plan::QueuePlan;
use crate::reasons::ShortReason;

/// How much of a queue is taken, and how much there is.
#[derive(Clone, Debug)]
pub(super) struct QueueRoom {
    /// What there will be.
    cap: Amounts,
    /// The part of it that stays when pods of the queue go.
    lasting: Amounts,
    /// What goes with pods that hold more than the target.
    on_pods: Amounts,
    target: Amounts,
    /// What its pods will hold, without those that wait.
    held: Amounts,
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
        context: Context<'_>,
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
        let on_pods = context.on_pods(queue_state.leaf.at, queue_state.allocated);
        let (mut cap, mut lasting, mut cap_now) = (Amounts::new(), Amounts::new(), Amounts::new());
        for resource in context.resources {
            let allocated = queue_state.allocated.get(resource);
            let hoped = if promised { allocated.max(queue_state.target.get(resource)) } else { allocated };
            let in_force = enforced.and_then(|enforced| enforced.get(resource)).unwrap_or_default();
            let foreign = queue_state.leaf.state.foreign_quotas.get(resource);
            let within = |amount| foreign.map_or(amount, |foreign| foreign.min(amount));
            cap.set(resource, within(hoped));
            lasting.set(resource, within(hoped.less(on_pods.get(resource))));
            cap_now.set(resource, within(allocated.min(in_force)));
        }
        let used_now = queue_state.leaf.namespace_usage.charged.clone();
        let used = used_now.less(going);
        let (target, held) = (queue_state.target.clone(), used.clone());
        Self { cap, lasting, on_pods, target, held, cap_now, used, used_now }
    }

    /// What is lacking for more pods that request `requests`, once pods that hold `freed` are gone. What comes in their place has
    /// to fit in what stays of the room.
    pub(super) fn lacks(&self, requests: &Amounts, freed: &Amounts) -> Amounts {
        self.lacks_for(requests, freed).only(|one, _| requests.offers(one))
    }

    /// What is lacking for those that were promised room.
    pub(super) fn lacks_already(&self, freed: &Amounts) -> Amounts {
        self.lacks_for(&Amounts::new(), freed).only(|one, _| self.cap.offers(one))
    }

    fn lacks_for(&self, requests: &Amounts, freed: &Amounts) -> Amounts {
        let used = self.used.plus(requests).less(freed);
        let on_pods = self.on_pods.min(&self.held.less(freed).less(&self.target));
        let cap = self.cap.min(&self.lasting.plus(&on_pods));
        used.less(&self.lasting).only(|one, _| used.get(one) > cap.get(one))
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
