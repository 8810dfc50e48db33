//! Starting the operator on a full cluster, and what it costs then, at rest, and while pods are replaced.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;

use super::{ClusterSize, Commands, Histogram, pods, replace_pods};
use crate::bench::machine::until_quiet;
use crate::bench::{Meter, ProcessNumbers, ResidentMemory};
use crate::demo::Narrator;
use crate::quotient::{OPERATOR_USER, Operator, Stage, Write, install_chart, writes_of_operator};
use crate::testbed::{AuditEvent, TestBed, eventually};

/// How long the first cycle may take after the operator is ready.
const FIRST_CYCLE: Duration = Duration::from_secs(60);
/// From the first cycle to rest: by then the last status has been written, which may wait for 18 s.
const SETTLING: Duration = Duration::from_secs(30);
/// How long it is watched at rest.
const REST: Duration = Duration::from_secs(60);
/// How many pods are replaced then, ten a second.
const REPLACED: u32 = 600;

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The cluster.
    pub size: ClusterSize,
    /// One of the pods as JSON, in bytes.
    pub pod_bytes: usize,
    /// From the start of the process until it is ready: until every kind has been listed in full.
    pub ready: Duration,
    /// From the start of the process until its first cycle has ended, its quota writes answered.
    pub first_cycle: Duration,
    /// That cycle (the first cycles, should there have been more than one by then).
    pub cycle: Histogram,
    /// The engine's part of it.
    pub plan: Histogram,
    /// Memory and time on the processors from the start of the process until then.
    pub start: ProcessNumbers,
    /// Writes from the start to rest, Lease apart, by resource.
    pub writes: BTreeMap<String, usize>,
    /// Then a minute in which nothing happens in the cluster.
    pub rest: Minute,
    /// Then what a person does.
    pub commands: Commands,
    /// Then a minute in which ten pods a second are replaced by others.
    pub churn: Minute,
}

/// What the operator did in a minute.
#[derive(Clone, Debug)]
pub struct Minute {
    /// Memory at its beginning.
    pub memory: ResidentMemory,
    /// What was written, the Lease apart.
    pub writes: Vec<Write>,
    /// How often the Lease was written.
    pub lease_writes: usize,
    /// The cycles.
    pub cycle: Histogram,
    /// The engine's part of them.
    pub plan: Histogram,
    /// Time on the processors.
    pub cpu: Duration,
}

/// Starts the operator on a full cluster of this size and measures. The operator runs on.
pub async fn measure(
    stage @ Stage { bed, programs }: &Stage,
    size: ClusterSize,
    narrator: &Narrator,
) -> anyhow::Result<(Measurement, Operator)> {
    let pod_bytes = size_of_a_pod(bed).await?;
    // Not the operator's doing, so not in its time.
    install_chart(bed).await?;
    // After the last pod runs, the controllers still have some work with it.
    until_quiet(narrator).await?;
    let mark = bed.audit().mark()?;

    let started = Instant::now();
    let operator = Operator::start_with(bed, &programs.operator, &[]).await?;
    let ready = started.elapsed();
    narrator.done("the operator is ready", started);
    let first_cycle = first_cycle(&operator, started).await?;
    let pid = operator.process().pid();
    let start = ProcessNumbers::of(pid)?;
    narrator.done("its first cycle has ended", started);
    let (cycle, plan) = durations(&operator).await?;

    tokio::time::sleep(SETTLING).await;
    let writes = by_resource(&writes_of_operator(&bed.audit().events_since(mark)?));
    narrator.line(&format!("     a minute at rest, from {} s after the first cycle", SETTLING.as_secs()));
    let rest = over(bed, &operator, async {
        tokio::time::sleep(REST).await;
        Ok(())
    })
    .await?;
    let commands = Commands::measure(stage, size, narrator).await?;
    narrator.line("     a minute in which pods are replaced");
    // Each of another team and on another node than the one before.
    let replaced = (0..REPLACED.min(size.pods)).map(|number| pods::pod(size, number));
    let churn = over(bed, &operator, replace_pods(&bed.client(), replaced)).await?;
    narrator.done("both are over", started);
    let measured = Measurement {
        size,
        pod_bytes,
        ready,
        first_cycle,
        cycle,
        plan,
        start,
        writes,
        rest,
        commands,
        churn,
    };
    Ok((measured, operator))
}

/// What the operator does while something happens.
async fn over(
    bed: &TestBed,
    operator: &Operator,
    happens: impl Future<Output = anyhow::Result<()>>,
) -> anyhow::Result<Minute> {
    let meter = Meter::start(bed, operator)?;
    let (cycles, plans) = durations(operator).await?;
    happens.await?;
    let cost = meter.stop()?;
    let is_lease_write =
        |event: &&AuditEvent| event.user == OPERATOR_USER && event.is_write() && event.resource == "leases";
    let (cycle, plan) = durations(operator).await?;
    Ok(Minute {
        memory: cost.before.memory,
        writes: writes_of_operator(&cost.events),
        lease_writes: cost.events.iter().filter(is_lease_write).count(),
        cycle: cycle.since(cycles),
        plan: plan.since(plans),
        cpu: cost.cpu(),
    })
}

/// When the first cycle has ended. The log tells: to ask for the metrics of a thousand queues again and again would keep the
/// operator from what is measured.
pub(in crate::bench) async fn first_cycle(operator: &Operator, started: Instant) -> anyhow::Result<Duration> {
    eventually("the first cycle has ended", FIRST_CYCLE, async || {
        operator.process().must_run()?;
        let log = operator.process().log();
        ensure!(log.contains("the first cycle has ended"), "it does not say so");
        Ok(started.elapsed())
    })
    .await
}

/// Of cycles and of plans, so far.
pub(in crate::bench) async fn durations(operator: &Operator) -> anyhow::Result<(Histogram, Histogram)> {
    let (code, text) = operator.get("/metrics").await?;
    ensure!(code == 200, "asking for metrics: {code} {text}");
    let find = |name| Histogram::find(&text, name);
    Ok((find("quotient_cycle_duration_seconds")?, find("quotient_plan_duration_seconds")?))
}

async fn size_of_a_pod(bed: &TestBed) -> anyhow::Result<usize> {
    let pods: Api<Pod> = Api::all(bed.client());
    let list = pods.list(&ListParams::default().limit(1)).await.context("listing one pod")?;
    let pod = list.items.first().context("there is no pod")?;
    Ok(serde_json::to_vec(pod)?.len())
}

/// How many there are of each resource.
pub(super) fn by_resource(writes: &[Write]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for write in writes {
        let count: &mut usize = counts.entry(write.resource.clone()).or_default();
        *count = count.saturating_add(1);
    }
    counts
}
