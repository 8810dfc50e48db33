//! The steps for programs: what `-o json` and `-o yaml` print. A stable interface; fields are only added.

use std::collections::BTreeMap;

use quotient_engine::amounts::Resource;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{
    Eviction, PassedOver, Plan, PodId, QueueJobName, QueueJobPlan, QueuePlan, Scaling, Unmet,
};
use serde::Serialize;

use super::sentence::why_it_waits;
use super::steps::{Simulation, Step};
use super::unmet;
use crate::output::quantities;

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    started_before: Vec<String>,
    steps: Vec<StepReport>,
    stable: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct StepReport {
    step: usize,
    elapsed_seconds: i64,
    capacity: Quantities,
    queues: Vec<QueueReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    queue_jobs: Vec<QueueJobReport>,
    evictions: Vec<EvictionReport>,
    /// What would be evicted if every queue were in mode Full and no queue were paused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<EvictionReport>,
    evicted_again: Vec<EvictionReport>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scalings: Vec<ScalingReport>,
    started: Vec<String>,
    unmet: Vec<UnmetReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed_over: Option<Vec<PassedOverReport>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct QueueReport {
    queue: String,
    demand: Quantities,
    deserved: Quantities,
    allocated: Quantities,
    used: Quantities,
    preempting: Quantities,
    borrowed: Quantities,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct QueueJobReport {
    queue_job: String,
    queue: Option<String>,
    state: String,
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    min_available: u32,
    /// What it had before, has now, and is to have in the end.
    slots_before: u32,
    slots: u32,
    slots_deserved: u32,
    running: u32,
    pending: u32,
    terminating: u32,
    succeeded: u32,
    deserved: Quantities,
    allocated: Quantities,
    used: Quantities,
    preempting: Quantities,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
struct EvictionReport {
    pod: String,
    queue: String,
    beneficiary: Option<String>,
    reason: &'static str,
    /// If not the pod's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_seconds: Option<u32>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ScalingReport {
    kind: &'static str,
    name: String,
    queue: String,
    from: u32,
    to: u32,
    original_replicas: Option<u32>,
    pods: Vec<String>,
    beneficiaries: Vec<String>,
    reason: &'static str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnmetReport {
    queue: String,
    what: String,
    pods: u32,
    requests: Quantities,
    reason: &'static str,
    message: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PassedOverReport {
    pod: String,
    queue: String,
    reason: &'static str,
}

/// Every governed resource with its amount as a Kubernetes quantity, zeros included.
type Quantities = BTreeMap<String, String>;

/// The simulation as it is printed for programs, with the pods that rules kept if `explain`.
pub(super) fn report(simulation: &Simulation, explain: bool) -> Report {
    let steps = simulation.steps.iter().zip(1_usize..);
    Report {
        started_before: simulation.before.iter().map(pod_name).collect(),
        steps: steps.map(|(step, number)| step_report(number, step, explain)).collect(),
        stable: simulation.stable,
    }
}

fn step_report(number: usize, step: &Step, explain: bool) -> StepReport {
    let plan = &step.plan;
    let resources = plan.resources.as_slice();
    StepReport {
        step: number,
        elapsed_seconds: step.elapsed_seconds,
        capacity: quantities(&plan.capacity, resources),
        queues: plan.queues.iter().map(|(name, queue)| queue_report(name, queue, resources)).collect(),
        queue_jobs: plan
            .queue_jobs
            .iter()
            .map(|(name, job)| queue_job_report(name, job, resources))
            .collect(),
        evictions: plan.evictions.iter().map(eviction_report).collect(),
        withheld: plan.withheld.iter().map(eviction_report).collect(),
        evicted_again: plan.shortened.iter().map(eviction_report).collect(),
        scalings: plan.scalings.iter().map(scaling_report).collect(),
        started: step.started.iter().map(pod_name).collect(),
        unmet: unmet_reports(plan, resources),
        passed_over: explain.then(|| plan.passed_over.iter().map(passed_over_report).collect()),
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
        borrowed: quantities(&queue.used.less(&queue.nominal), resources),
    }
}

fn queue_job_report(name: &QueueJobName, job: &QueueJobPlan, resources: &[Resource]) -> QueueJobReport {
    QueueJobReport {
        queue_job: name.to_string(),
        queue: job.queue.as_ref().map(ToString::to_string),
        state: format!("{:?}", job.phase),
        reason: job.reason.name(),
        message: why_it_waits(job),
        min_available: job.min_available,
        slots_before: job.had,
        slots: job.total(),
        slots_deserved: job.slots.iter().copied().fold(0, u32::saturating_add),
        running: job.pods.running,
        pending: job.pods.pending,
        terminating: job.pods.terminating,
        succeeded: job.succeeded,
        deserved: quantities(&job.amounts.deserved, resources),
        allocated: quantities(&job.amounts.allocated, resources),
        used: quantities(&job.amounts.used, resources),
        preempting: quantities(&job.amounts.preempting(), resources),
    }
}

fn eviction_report(eviction: &Eviction) -> EvictionReport {
    EvictionReport {
        pod: pod_name(&eviction.pod),
        queue: eviction.queue.to_string(),
        beneficiary: eviction.beneficiary.as_ref().map(ToString::to_string),
        reason: eviction.reason.name(),
        grace_seconds: eviction.grace_seconds,
    }
}

fn scaling_report(scaling: &Scaling) -> ScalingReport {
    ScalingReport {
        kind: scaling.scale_target.kind.name(),
        name: format!("{}/{}", scaling.namespace, scaling.scale_target.name),
        queue: scaling.queue.to_string(),
        from: scaling.from,
        to: scaling.to,
        original_replicas: scaling.original_replicas,
        pods: scaling.pods.iter().map(pod_name).collect(),
        beneficiaries: scaling.beneficiaries.iter().map(ToString::to_string).collect(),
        reason: scaling.reason.name(),
    }
}

fn unmet_reports(plan: &Plan, resources: &[Resource]) -> Vec<UnmetReport> {
    let report = |name: &QueueName, queue: &QueuePlan, unmet: &Unmet| UnmetReport {
        queue: name.to_string(),
        what: unmet::what(unmet),
        pods: unmet.pods,
        requests: quantities(&unmet.requests, resources),
        reason: unmet.reason.name(),
        message: unmet::message(queue, unmet),
    };
    unmet::all(plan).map(|(name, queue, unmet)| report(name, queue, unmet)).collect()
}

fn passed_over_report(passed: &PassedOver) -> PassedOverReport {
    PassedOverReport {
        pod: pod_name(&passed.pod),
        queue: passed.queue.to_string(),
        reason: passed.reason.name(),
    }
}

/// `namespace/name`.
pub(crate) fn pod_name(pod: &PodId) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}
