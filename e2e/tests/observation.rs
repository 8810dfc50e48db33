//! A reclaim in mode Observe, and then in mode Full: the named victims are the evicted pods.
//!
//! `make observe` looks on for ten minutes. That is longer than everything that the operator waits for: a pod that no node takes
//! counts for 60 s, a workload whose pods are not Ready for 300 s, and an event is repeated after 600 s. Every other test run
//! looks on for 10 s.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use quotient_crds::ConditionType;
use quotient_e2e::bench::speed::{ClusterLayout, Kind, QueueAt, Work};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::eventually;
use serde_json::json;

/// Cpus that the holder uses, all that there are: half of them by a Deployment, half by bare pods.
const CPUS: u32 = 100;
const HALF: u32 = CPUS / 2;
/// What the gainer requests, and its share: more than either half, so that pods of both are victims.
const GAINED: u32 = 75;
/// How long a test run looks on.
const SHORT: Duration = Duration::from_secs(10);
/// At most so many looks, and at least so long between two.
const LOOKS: u32 = 20;
const PAUSE: Duration = Duration::from_secs(5);
/// How long an event is not repeated.
const REPEATED: SignedDuration = SignedDuration::from_mins(10);
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
async fn the_operator_observes() -> Result<()> {
    observe_then_evict(Observed::Operator).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_observes() -> Result<()> {
    observe_then_evict(Observed::Holder).await
}

/// The cluster before the gainer has work.
fn layout(observed: Observed) -> ClusterLayout {
    let holder = match observed {
        Observed::Operator => json!({}),
        Observed::Holder => json!({"mode": "Observe"}),
    };
    let bare = Work { name: "bare".to_owned(), ..Work::of(Kind::Pods, "holder", HALF) };
    ClusterLayout {
        queues: vec![QueueAt::of("holder", holder), QueueAt::of("gainer", json!({"weight": 3}))],
        work: vec![Work::of(Kind::Deployment, "holder", HALF), bare],
        ..ClusterLayout::of_cpus(CPUS)
    }
}

async fn observe_then_evict(observed: Observed) -> Result<()> {
    let lasts = lasts()?;
    let layout = layout(observed);
    let arguments: &[&str] = match observed {
        Observed::Operator => &["--mode=Observe"],
        Observed::Holder => &[],
    };
    let stage = Stage::set(&[]).await?;
    let bed = &stage.bed;
    layout.lay(&stage).await?;
    let mut operator = Operator::start_with(bed, &stage.programs.operator, arguments).await?;
    layout.fill(bed).await?;
    stage.until_quiet_for(REST).await?;
    let before = bed.audit().mark()?;
    Work::of(Kind::Deployment, "gainer", GAINED).create(&bed.client()).await?;
    let named = eventually("the victims are named and told", PATIENCE, async || {
        let named = stage.simulated_victims().await?;
        ensure!(named.len() == GAINED as usize, "{} pods", named.len());
        check_events(&stage, &named).await?;
        Ok(named)
    })
    .await?;
    ensure!(named.iter().all(|pod| pod.starts_with("holder/")), "{named:?}");

    let begun = Instant::now();
    let mut looks: u32 = 0;
    while begun.elapsed() < lasts {
        tokio::time::sleep((lasts / LOOKS).max(PAUSE)).await;
        let at = begun.elapsed().as_secs();
        same(&stage.simulated_victims().await?, &named).with_context(|| format!("after {at} s"))?;
        let withheld =
            format!(r#"quotient_queue_withheld_evictions{{namespace="holder",queue="holder"}} {GAINED}"#);
        let (_, metrics) = operator.get("/metrics").await?;
        ensure!(metrics.lines().any(|line| line == withheld), "after {at} s there is no {withheld}");
        looks += 1;
    }
    // Whatever was told at any time.
    check_events(&stage, &named).await?;
    ensure!(stage.evicted(before)?.is_empty(), "evicted in mode Observe: {:?}", stage.evicted(before)?);
    stage.until_pods("holder", PodCounts::running(CPUS)).await?;
    nothing_is_written(&stage, observed).await?;
    if observed == Observed::Holder {
        a_mode_is_told(&stage, &operator).await?;
    }

    match observed {
        Observed::Operator => {
            operator.stop().await?;
            operator = Operator::start(bed, &stage.programs).await?;
        }
        Observed::Holder => stage.patch_queue("holder", "holder", json!({"mode": "Full"})).await?,
    }
    stage.until_pods("gainer", PodCounts::running(GAINED)).await?;
    stage.until_pods("holder", PodCounts::running(CPUS - GAINED)).await?;
    stage.until_quiet_for(REST).await?;
    let evicted = stage.evicted(before)?;
    same(&evicted, &named).context("evicted instead of named")?;
    let seconds = lasts.as_secs();
    println!("{observed:?}: {looks} looks in {seconds} s named the same {} pods", named.len());
    println!("{observed:?}: mode Full evicted {}, all of them named", evicted.len());
    stage.end(operator).await
}

/// Where mode Observe holds, there is neither a quota nor a LimitRange.
async fn nothing_is_written(stage: &Stage, observed: Observed) -> Result<()> {
    let place = match observed {
        Observed::Operator => "--all-namespaces",
        Observed::Holder => "--namespace=holder",
    };
    let written = stage.bed.kubectl(["get", "resourcequotas,limitranges", place, "--output=name"]).await?;
    assert_eq!(written, "", "nothing is written in mode Observe");
    Ok(())
}

/// The statuses and the metrics say which mode keeps the pods, and no reclaim is listed.
async fn a_mode_is_told(stage: &Stage, operator: &Operator) -> Result<()> {
    for (namespace, expected) in [("holder", "Observe"), ("gainer", "EvictionsDisabled")] {
        let shown = stage.queue_status(namespace).await?.summary.and_then(|summary| summary.state);
        assert_eq!(shown.as_deref(), Some(expected), "{namespace}");
    }
    let starved = stage.queue_status("gainer").await?;
    let starved = starved.condition(ConditionType::Starved).context("no condition Starved")?.message.clone();
    ensure!(starved.contains("because queue holder is in mode Observe"), "{starved}");
    ensure!(stage.queue_status("holder").await?.recent_reclaims.is_empty(), "a reclaim is listed");
    let (_, metrics) = operator.get("/metrics").await?;
    for line in [
        r#"quotient_queue_mode_info{namespace="holder",queue="holder",mode="Observe"} 1"#,
        r#"quotient_queue_mode_info{namespace="gainer",queue="gainer",mode="Full"} 1"#,
    ] {
        ensure!(metrics.lines().any(|shown| shown == line), "{line} is not in {metrics}");
    }
    Ok(())
}

/// How long to look on.
fn lasts() -> Result<Duration> {
    let Ok(minutes) = std::env::var("QUOTIENT_OBSERVE_MINUTES") else { return Ok(SHORT) };
    let minutes: u64 = minutes.parse().context("QUOTIENT_OBSERVE_MINUTES")?;
    Ok(Duration::from_secs(minutes * 60))
}

/// Fails unless events have told what would happen to these pods: each bare pod, and the Deployment of the others, once in
/// [`REPEATED`].
///
/// Every event is read: one that names a pod of the gainer counts as well.
async fn check_events(stage: &Stage, named: &BTreeSet<String>) -> Result<()> {
    let (bare, of_deployment): (Vec<_>, Vec<_>) =
        named.iter().partition(|pod| pod.starts_with("holder/bare-"));
    let rest = "would be evicted for queue gainer because queue holder uses";
    let of_deployment = ("holder/work".to_owned(), format!("{} pods {rest}", of_deployment.len()));
    let expected = bare.into_iter().map(|pod| (pod.clone(), format!("This pod {rest}")));
    let expected: BTreeMap<String, String> = expected.chain([of_deployment]).collect();
    let events: Api<Event> = Api::all(stage.bed.client());
    let mut events = events.list(&ListParams::default()).await?.items;
    events.sort_by_key(|event| event.event_time.clone());
    let mut noticed: BTreeMap<String, Timestamp> = BTreeMap::new();
    for event in events {
        ensure!(event.reason.as_deref() != Some("Reclaimed"), "{:?}", event.note);
        if event.reason.as_deref() != Some("WouldReclaim") {
            continue;
        }
        let object = event.regarding.context("an event without an object")?;
        let name = format!("{}/{}", object.namespace.unwrap_or_default(), object.name.unwrap_or_default());
        let note = event.note.unwrap_or_default();
        let start = expected.get(&name).with_context(|| format!("{name} is told in vain: {note}"))?;
        ensure!(note.starts_with(start), "{name}: {note}");
        let time = event.event_time.context("an event without a time")?.0;
        if let Some(before) = noticed.insert(name.clone(), time) {
            ensure!(time.duration_since(before) >= REPEATED, "{name} is told again too soon: {note}");
        }
    }
    ensure!(noticed.len() == expected.len(), "events of {:?}, and not all of {expected:?}", noticed.keys());
    Ok(())
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
