//! Evictions: of victims, and of terminating pods that get less grace.

use quotient_engine::plan::{Eviction, Plan};

use super::Observed;
use crate::executor::{Operation, Purpose, Request};

/// The evictions of `plan` in its order, each for one life of a pod. Terminating pods come last: half a minute later serves them
/// as well.
pub(super) fn operations(plan: &Plan, observed: &Observed<'_>) -> Vec<Operation> {
    let operation = |eviction: &Eviction| {
        let purpose = Purpose::Eviction {
            eviction: Box::new(eviction.clone()),
            queue: plan.uid(&eviction.queue).cloned(),
            started: observed.index.pod_started(&eviction.pod),
        };
        Operation::on_pod(purpose, &eviction.pod, Request::Evict(eviction.grace_seconds))
    };
    plan.evictions.iter().chain(&plan.shortened).map(operation).collect()
}
