//! The scenario `half` of the bench in mode Observe, and then in mode Full: the named victims are the evicted pods.
//!
//! `make observe` looks on for ten minutes. That is longer than everything that the operator waits for: a pod that no node takes
//! counts for 60 s, a workload whose pods are not Ready for 300 s, and an event is repeated after 600 s. Every other test run
//! looks on for 20 s.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use quotient_e2e::bench::speed::{Demand, Kind, Scenario, reclaim_half};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::eventually;
use quotient_invariants::Tolerance;
use serde_json::json;

/// Cpus that the holder uses, all that there are; the gainer asks for half of them.
const CPUS: u32 = 100;
const HALF: u32 = CPUS / 2;
/// How long a test run looks on.
const SHORT: Duration = Duration::from_secs(20);
/// At most so many looks, and at least so long between two.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_secs(5);
/// The operator has nothing left to do when it has written nothing for so long.
const REST: Duration = Duration::from_secs(3);

/// What is in mode Observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Observed {
    /// The operator, as the chart installs it: no namespace gets a quota, so the gainer's pods exist and wait for nodes.
    Operator,
    /// The holder's Queue, as a team that is new to Quotient: the gainer's quota rejects its pods.
    Holder,
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_observes_a_deployment() -> Result<()> {
    observe_then_evict(Observed::Operator, Kind::Deployment).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_observes_bare_pods() -> Result<()> {
    observe_then_evict(Observed::Operator, Kind::Pods).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_observes_a_deployment() -> Result<()> {
    observe_then_evict(Observed::Holder, Kind::Deployment).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_observes_bare_pods() -> Result<()> {
    observe_then_evict(Observed::Holder, Kind::Pods).await
}

async fn observe_then_evict(observed: Observed, kind: Kind) -> Result<()> {
    let lasts = lasts()?;
    let mut scenario = reclaim_half(kind, CPUS, Duration::ZERO);
    let mut arguments: &[&str] = &[];
    match observed {
        Observed::Operator => arguments = &["--mode=Observe"],
        Observed::Holder => {
            let holder = scenario.layout.queues.iter_mut().find(|queue| queue.name == "holder");
            holder.context("no holder")?.spec = json!({"mode": "Observe"});
        }
    }
    let stage = Stage::set(&[]).await?;
    let bed = &stage.bed;
    scenario.layout.lay(&stage).await?;
    let mut operator = Operator::start_with(bed, &stage.programs.operator, arguments).await?;
    scenario.layout.fill(bed).await?;
    stage.until_quiet_for(REST).await?;
    let before = bed.audit().mark()?;
    ask(&scenario, &stage).await?;
    let named = eventually("half of the holder's pods are named", PATIENCE, async || {
        let named = stage.simulated_victims().await?.named();
        ensure!(named.len() == HALF as usize, "{} pods", named.len());
        let told = told(&stage, kind).await?;
        ensure!(kind == Kind::Deployment || told == named, "events name {} pods", told.len());
        ensure!(!told.is_empty(), "no event");
        Ok(named)
    })
    .await?;
    ensure!(named.iter().all(|pod| pod.starts_with("holder/")), "{named:?}");

    let begun = Instant::now();
    let mut looks: u32 = 0;
    while begun.elapsed() < lasts {
        tokio::time::sleep((lasts / LOOKS).max(PAUSE)).await;
        let at = begun.elapsed().as_secs();
        same(&stage.simulated_victims().await?.named(), &named).with_context(|| format!("after {at} s"))?;
        let withheld =
            format!(r#"quotient_queue_withheld_evictions{{namespace="holder",queue="holder"}} {HALF}"#);
        let (_, metrics) = operator.get("/metrics").await?;
        ensure!(metrics.lines().any(|line| line == withheld), "after {at} s there is no {withheld}");
        looks += 1;
    }
    // Whatever was told at any time.
    let told = told(&stage, kind).await?;
    match kind {
        Kind::Pods => same(&told, &named).context("events")?,
        _ => assert_eq!(told, BTreeSet::from(["holder/work".to_owned()]), "the Deployment is told"),
    }
    ensure!(stage.evicted(before)?.is_empty(), "evicted in mode Observe: {:?}", stage.evicted(before)?);
    stage.until_pods("holder", PodCounts::running(CPUS)).await?;

    match observed {
        Observed::Operator => {
            operator.stop().await?;
            operator = Operator::start(bed, &stage.programs).await?;
        }
        Observed::Holder => stage.patch_queue("holder", "holder", json!({"mode": "Full"})).await?,
    }
    stage.until_pods("gainer", PodCounts::running(HALF)).await?;
    stage.until_pods("holder", PodCounts::running(HALF)).await?;
    stage.until_quiet_for(REST).await?;
    let evicted = stage.evicted(before)?;
    same(&evicted, &named).context("evicted instead of named")?;
    let seconds = lasts.as_secs();
    println!("{observed:?}, {kind:?}: {looks} looks in {seconds} s named the same {} pods", named.len());
    println!("{observed:?}, {kind:?}: mode Full evicted {}, all of them named", evicted.len());
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}

/// How long to look on.
fn lasts() -> Result<Duration> {
    let Ok(minutes) = std::env::var("QUOTIENT_OBSERVE_MINUTES") else { return Ok(SHORT) };
    let minutes: u64 = minutes.parse().context("QUOTIENT_OBSERVE_MINUTES")?;
    Ok(Duration::from_secs(minutes * 60))
}

async fn ask(scenario: &Scenario, stage: &Stage) -> Result<()> {
    let Demand::Arrives { work, .. } = &scenario.demand else { bail!("{} is no work", scenario.name) };
    for work in work {
        work.create(&stage.bed.client()).await?;
    }
    Ok(())
}

/// The workloads or bare pods that an event has told what would happen, as `namespace/name`.
///
/// Every event is read: one that names a pod of the gainer counts as well.
async fn told(stage: &Stage, kind: Kind) -> Result<BTreeSet<String>> {
    let events: Api<Event> = Api::all(stage.bed.client());
    let mut told = BTreeSet::new();
    for event in events.list(&ListParams::default()).await?.items {
        if event.reason.as_deref() != Some("WouldReclaim") {
            continue;
        }
        let object = event.regarding.context("an event without an object")?;
        let note = event.note.unwrap_or_default();
        let expected = match kind {
            Kind::Pods => "This pod would be evicted for queue gainer".to_owned(),
            _ => format!("{HALF} pods would be evicted for queue gainer"),
        };
        ensure!(note.starts_with(&expected), "{:?}: {note}", object.name);
        told.insert(format!("{}/{}", object.namespace.unwrap_or_default(), object.name.unwrap_or_default()));
    }
    Ok(told)
}

/// Fails with what differs.
fn same(seen: &BTreeSet<String>, named: &BTreeSet<String>) -> Result<()> {
    let (more, fewer): (Vec<_>, Vec<_>) =
        (seen.difference(named).collect(), named.difference(seen).collect());
    ensure!(
        more.is_empty() && fewer.is_empty(),
        "{} pods, {} of them not named before: {more:?}; {} are missing: {fewer:?}",
        seen.len(),
        more.len(),
        fewer.len()
    );
    Ok(())
}
