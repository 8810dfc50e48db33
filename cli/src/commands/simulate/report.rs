//! The steps for programs: what `-o json` and `-o yaml` print. A stable interface; fields are only added.

use std::collections::BTreeMap;

use quotient_engine::amounts::Resource;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{
    Eviction, PassedOver, Plan, PodId, QueueJobName, QueueJobPlan, QueuePlan, Scaling, Unmet,
};
use quotient_operator::status::why_unmet;

use super::sentence::{all_unmet, stalled_only_in, why_it_waits};
use super::steps::{Simulation, Step};
use crate::output::{quantities, report};

/// Every shared resource with its amount as a Kubernetes quantity, zeros included.
type Quantities = BTreeMap<String, String>;

report! {
    pub(crate) struct Report(simulation: &Simulation, explain: bool) {
        started_before: Vec<String> = simulation.before.iter().map(pod_name).collect(),
        steps: Vec<StepReport> = {
            let steps = simulation.steps.iter().zip(1..);
            steps.map(|(step, number)| StepReport::of(number, step, &step.plan.resources, explain)).collect()
        },
        stable: bool = simulation.stable,
        /// The Queues without a share, and what to do about each. No step changes that.
        stalled: Vec<String> = {
            let first = simulation.steps.first();
            first.map(|step| stalled_only_in(&Plan::default(), &step.plan)).unwrap_or_default()
        },
    }

    struct StepReport(number: usize, step: &Step, resources: &[Resource], explain: bool) {
        step: usize = number,
        elapsed_seconds: i64 = step.elapsed_seconds,
        capacity: Quantities = quantities(&step.plan.capacity, resources),
        queues: Vec<QueueReport> = {
            let queues = step.plan.queues.iter();
            queues.map(|(name, queue)| QueueReport::of(name, queue, resources)).collect()
        },
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        queue_jobs: Vec<QueueJobReport> = {
            let jobs = step.plan.queue_jobs.iter();
            jobs.map(|(name, job)| QueueJobReport::of(name, job, resources)).collect()
        },
        evictions: Vec<EvictionReport> = step.plan.evictions.iter().map(EvictionReport::of).collect(),
        /// What would be evicted if every queue were in mode Full and no queue were paused.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        withheld: Vec<EvictionReport> = step.plan.withheld.iter().map(EvictionReport::of).collect(),
        evicted_again: Vec<EvictionReport> = step.plan.shortened.iter().map(EvictionReport::of).collect(),
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scalings: Vec<ScalingReport> = step.plan.scalings.iter().map(ScalingReport::of).collect(),
        started: Vec<String> = step.started.iter().map(pod_name).collect(),
        unmet: Vec<UnmetReport> = {
            let all = all_unmet(&step.plan);
            all.map(|(name, queue, unmet)| UnmetReport::of(name, queue, unmet, resources)).collect()
        },
        #[serde(skip_serializing_if = "Option::is_none")]
        passed_over: Option<Vec<PassedOverReport>> =
            explain.then(|| step.plan.passed_over.iter().map(PassedOverReport::of).collect()),
    }

    struct QueueReport(name: &QueueName, plan: &QueuePlan, resources: &[Resource]) {
        queue: String = name.to_string(),
        demand: Quantities = quantities(&plan.demand, resources),
        deserved: Quantities = quantities(&plan.deserved, resources),
        allocated: Quantities = quantities(&plan.allocated, resources),
        used: Quantities = quantities(&plan.used, resources),
        preempting: Quantities = quantities(&plan.preempting, resources),
        borrowed: Quantities = quantities(&plan.used.less(&plan.nominal), resources),
    }

    struct QueueJobReport(name: &QueueJobName, job: &QueueJobPlan, resources: &[Resource]) {
        queue_job: String = name.to_string(),
        queue: Option<String> = job.queue.as_ref().map(ToString::to_string),
        state: String = format!("{:?}", job.phase),
        reason: &'static str = job.reason.name(),
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String> = why_it_waits(job),
        min_available: u32 = job.min_available,
        /// What it had before, has now, and is to have in the end.
        slots_before: u32 = job.had,
        slots: u32 = job.total(),
        slots_deserved: u32 = job.slots.iter().copied().fold(0, u32::saturating_add),
        running: u32 = job.pods.running,
        pending: u32 = job.pods.pending,
        terminating: u32 = job.pods.terminating,
        succeeded: u32 = job.succeeded,
        deserved: Quantities = quantities(&job.amounts.deserved, resources),
        allocated: Quantities = quantities(&job.amounts.allocated, resources),
        used: Quantities = quantities(&job.amounts.used, resources),
        preempting: Quantities = quantities(&job.amounts.preempting(), resources),
    }

    struct EvictionReport(eviction: &Eviction) {
        pod: String = pod_name(&eviction.pod),
        queue: String = eviction.queue.to_string(),
        beneficiary: Option<String> = eviction.beneficiary.as_ref().map(ToString::to_string),
        reason: &'static str = eviction.reason.name(),
        /// If not the pod's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        grace_seconds: Option<u32> = eviction.grace_seconds,
    }

    struct ScalingReport(scaling: &Scaling) {
        kind: &'static str = scaling.scale_target.kind.name(),
        name: String = format!("{}/{}", scaling.queue.namespace, scaling.scale_target.name),
        queue: String = scaling.queue.to_string(),
        from: u32 = scaling.from,
        to: u32 = scaling.to,
        #[serde(rename = "original_replicas")]
        original_replicas: Option<u32> = scaling.original_replicas,
        pods: Vec<String> = scaling.pods.iter().map(pod_name).collect(),
        beneficiaries: Vec<String> = scaling.beneficiaries.iter().map(ToString::to_string).collect(),
        reason: &'static str = scaling.reason.name(),
    }

    struct UnmetReport(name: &QueueName, plan: &QueuePlan, unmet: &Unmet, resources: &[Resource]) {
        queue: String = name.to_string(),
        what: String = unmet.preemptor.to_string(),
        pods: u32 = unmet.pods,
        requests: Quantities = quantities(&unmet.requests, resources),
        reason: &'static str = unmet.reason.name(),
        message: String = why_unmet(&name.namespace, plan, unmet),
    }

    pub(crate) struct PassedOverReport(passed: &PassedOver) {
        pod: String = pod_name(&passed.pod),
        queue: String = passed.queue.to_string(),
        reason: &'static str = passed.reason.name(),
    }
}

/// `namespace/name`.
pub(crate) fn pod_name(pod: &PodId) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}
