//! Evictions: of victims, and of terminating pods that get less grace.

use quotient_engine::plan::{Eviction, Plan};

use super::Observed;
use crate::executor::{Life, Object, Operation, Purpose, Request};

/// The evictions of `plan` in its order, each for one life of a pod. Terminating pods come last: half a minute later serves them
/// as well.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let victims = plan.evictions.iter().map(|eviction| {
        let started = observed.index.pod_started(&eviction.pod);
        let queue = plan.uid(&eviction.queue).cloned();
        of(eviction, Purpose::Eviction { eviction: Box::new(eviction.clone()), queue, started })
    });
    let shortened = plan.shortened.iter();
    victims
        .chain(shortened.map(|eviction| of(eviction, Purpose::LessGrace(Box::new(eviction.clone())))))
        .collect()
}

fn of(Eviction { pod, grace_seconds, .. }: &Eviction, purpose: Purpose) -> Operation {
    Operation {
        purpose,
        object: Object::pod(pod),
        life: Some(Life::of(pod.uid.as_str())),
        request: Request::Evict(*grace_seconds),
    }
}
