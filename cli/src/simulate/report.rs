//! The steps for programs: what `-o json` and `-o yaml` print. A stable interface; fields are only added.

use std::collections::BTreeMap;

use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId, QueuePlan};
use serde::Serialize;

use super::steps::{Simulation, Step};

#[derive(Debug, Serialize)]
pub(super) struct Report {
    steps: Vec<StepReport>,
    stable: bool,
}

#[derive(Debug, Serialize)]
struct StepReport {
    step: usize,
    capacity: Quantities,
    queues: Vec<QueueReport>,
    evictions: Vec<EvictionReport>,
    started: Vec<String>,
}

#[derive(Debug, Serialize)]
struct QueueReport {
    queue: String,
    demand: Quantities,
    deserved: Quantities,
    allocated: Quantities,
    used: Quantities,
    preempting: Quantities,
}

#[derive(Debug, Serialize)]
struct EvictionReport {
    pod: String,
    queue: String,
    beneficiary: Option<String>,
    reason: &'static str,
}

/// Every governed resource with its amount as a Kubernetes quantity, zeros included.
type Quantities = BTreeMap<String, String>;

/// The simulation as it is printed for programs.
pub(super) fn report(simulation: &Simulation) -> Report {
    let steps = simulation.steps.iter().zip(1_usize..);
    Report {
        steps: steps.map(|(step, number)| step_report(number, step)).collect(),
        stable: simulation.stable,
    }
}

fn step_report(number: usize, step: &Step) -> StepReport {
    let plan = &step.plan;
    let resources = plan.resources.as_slice();
    StepReport {
        step: number,
        capacity: quantities(&plan.capacity, resources),
        queues: plan.queues.iter().map(|(name, queue)| queue_report(name, queue, resources)).collect(),
        evictions: plan.evictions.iter().map(eviction_report).collect(),
        started: step.started.iter().map(pod_name).collect(),
    }
}

fn queue_report(name: &QueueName, queue: &QueuePlan, resources: &[Resource]) -> QueueReport {
    QueueReport {
        queue: name.to_string(),
        demand: quantities(&queue.demand, resources),
        deserved: quantities(&queue.deserved, resources),
        allocated: quantities(&queue.allocated, resources),
        used: quantities(&queue.used, resources),
        preempting: quantities(&queue.preempting, resources),
    }
}

fn eviction_report(eviction: &Eviction) -> EvictionReport {
    EvictionReport {
        pod: pod_name(&eviction.pod),
        queue: eviction.queue.to_string(),
        beneficiary: eviction.beneficiary.as_ref().map(ToString::to_string),
        reason: eviction.reason.name(),
    }
}

fn quantities(amounts: &Amounts, resources: &[Resource]) -> Quantities {
    resources
        .iter()
        .map(|resource| (resource.name().to_owned(), resource.format(amounts.get(resource))))
        .collect()
}

/// `namespace/name`.
pub(super) fn pod_name(pod: &PodId) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}
