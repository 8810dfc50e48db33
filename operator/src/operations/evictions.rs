//! Evictions: of victims, and of terminating pods that get less grace.

use quotient_engine::plan::{Eviction, Plan};

use super::Observed;
use crate::executor::{Operation, Purpose, Request};

/// The evictions of `plan` in its order, each for one life of a pod. Terminating pods come last: half a minute later serves them
/// as well.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let of = |purpose, Eviction { pod, grace_seconds, .. }: &Eviction| {
        Operation::on_pod(purpose, pod, Request::Evict(*grace_seconds))
    };
    let victims = plan.evictions.iter().map(|eviction| {
        let started = observed.index.pod_started(&eviction.pod);
        let queue = plan.uid(&eviction.queue).cloned();
        of(Purpose::Eviction { eviction: Box::new(eviction.clone()), queue, started }, eviction)
    });
    let shortened = plan.shortened.iter();
    victims
        .chain(shortened.map(|eviction| of(Purpose::LessGrace(Box::new(eviction.clone())), eviction)))
        .collect()
}
