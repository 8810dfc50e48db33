//! How long the operator takes to start, to follow events and to plan, with and without a hostile tenant.

use std::time::{Duration, Instant};

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use kube::Api;
use serde_json::json;

use super::{WIDE, autoscaler, budget, create, member, resting, wide};
use crate::bench::Meter;
use crate::bench::scale::{durations, first_cycle, replace_pods};
use crate::demo::Narrator;
use crate::quotient::{Operator, Stage};
use crate::testbed::TestBed;

/// How many owners there are, and as many autoscalers.
const OWNERS: usize = 3_000;
/// How many budgets.
const BUDGETS: usize = 4_000;
/// How many pods of the tenant.
const PODS: usize = 1_000;
/// How many of them are replaced.
const REPLACED: usize = 300;
/// After the first cycle, until the last status is written.
const SETTLING: Duration = Duration::from_secs(30);

/// What the tenant does beside having workloads and pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crowd {
    /// Nothing.
    Friendly,
    /// An autoscaler for each owner, budgets, and a pod with thousands of resource names.
    Hostile,
}

/// What the operator needed.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// From the start of the process to the end of its first cycle.
    pub start: Duration,
    /// Time on the processors until then.
    pub start_cpu: Duration,
    /// Time on the processors while pods are replaced.
    pub events_cpu: Duration,
    /// Processor time for each plan meanwhile. A plan's time on the wall counts the servers that the tenant keeps busy, too.
    pub plan: Duration,
    /// How many plans there were meanwhile.
    pub plans: u32,
    /// The most memory, in kibibytes.
    pub peak: u64,
}

impl Effort {
    /// The least time of both, and the most plans and memory.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            start_cpu: self.start_cpu.min(other.start_cpu),
            events_cpu: self.events_cpu.min(other.events_cpu),
            plan: self.plan.min(other.plan),
            plans: self.plans.max(other.plans),
            peak: self.peak.max(other.peak),
        }
    }
}

/// Fills a cluster.
async fn fill(bed: &TestBed, crowd: Crowd) -> anyhow::Result<()> {
    for number in 0..10 {
        let room = [("cpu", "40"), ("memory", "40Gi"), ("pods", "250")];
        bed.add_node(&format!("node-{number}"), &room).await?;
    }
    let client = || bed.client();
    let pods: Api<Pod> = Api::namespaced(client(), "crowd");
    create(&Api::<ReplicaSet>::namespaced(client(), "crowd"), (0..OWNERS).map(resting)).await?;
    create(&pods, (0..PODS).map(member)).await?;
    let names = if crowd == Crowd::Hostile { WIDE } else { 1 };
    create(&pods, std::iter::once(wide(0, names))).await?;
    if crowd == Crowd::Hostile {
        let autoscalers: Api<HorizontalPodAutoscaler> = Api::namespaced(client(), "crowd");
        create(&autoscalers, (0..OWNERS).map(autoscaler)).await?;
        let budgets: Api<PodDisruptionBudget> = Api::namespaced(client(), "crowd");
        create(&budgets, (0..BUDGETS).map(|at| budget(at, PODS))).await?;
    }
    Ok(())
}

/// Fills a cluster, starts the operator and replaces pods.
pub async fn measure(stage: &Stage, crowd: Crowd, narrator: &Narrator) -> anyhow::Result<Effort> {
    let begun = Instant::now();
    // With room for all pods that come before Kubernetes notices that others are gone: it is slow with so many budgets.
    stage.queue("crowd", json!({"request": {"cpu": "200", "memory": "200Gi"}})).await?;
    stage.queue("team", json!({})).await?;
    fill(&stage.bed, crowd).await?;
    narrator.done(&format!("a {crowd:?} cluster is full"), begun);

    let begun = Instant::now();
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &[]).await?;
    let start = first_cycle(&operator, begun).await?;
    let pid = operator.process().pid();
    let start_cpu = crate::bench::ProcessNumbers::of(pid)?.cpu;
    narrator.done("the first cycle has ended", begun);
    tokio::time::sleep(SETTLING).await;

    let begun = Instant::now();
    let meter = Meter::start(&stage.bed, &operator)?;
    let (_, before) = durations(&operator).await?;
    let replaced: Vec<Pod> =
        (0..REPLACED).map(|at| serde_json::from_value(member(at))).collect::<Result<_, _>>()?;
    replace_pods(&stage.bed.client(), replaced.into_iter()).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (_, after) = durations(&operator).await?;
    let cost = meter.stop()?;
    operator.stop().await?;
    let plans = after.since(before);
    let effort = Effort {
        start,
        start_cpu,
        events_cpu: cost.cpu(),
        plan: cost.cpu().checked_div(plans.count).unwrap_or_default(),
        plans: plans.count,
        peak: cost.after.memory.peak,
    };
    let Effort { events_cpu, plan, plans, .. } = effort;
    narrator.done(
        &format!(
            "{REPLACED} pods are replaced: {events_cpu:.1?} of processor time, {plans} plans of {plan:.1?}"
        ),
        begun,
    );
    Ok(effort)
}
