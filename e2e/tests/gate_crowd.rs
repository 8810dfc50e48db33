//! Thousands of gated pods of one tenant, each unlike the others: the operator starts, plans and serves another tenant nearly
//! as if they were ordinary pods.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use quotient_e2e::bench::ProcessNumbers;
use quotient_e2e::bench::hostile::crowd_size;
use quotient_e2e::bench::scale::Histogram;
use quotient_e2e::quotient::{
    GATE_MODE, Operator, PATIENCE, PodCounts, Programs, Stage, install_chart, upgrade_chart,
};
use quotient_e2e::testbed::{Options, TestBed, eventually, objects};
use serde_json::{Value, json};

use crate::gate::{pods, until_gating};

/// The most that gated pods may cost, compared with ordinary ones.
const MOST: u32 = 2;

/// What a busy machine cannot tell apart.
const NOISE: Duration = Duration::from_millis(500);

/// What the operator needs in one case.
#[derive(Debug)]
struct Cost {
    /// Its processor time until its first cycle has ended: other tests that run beside it cost it none.
    start: Duration,
    /// The most memory, KiB.
    memory: u64,
    /// The mean time of a plan.
    plan: Duration,
    /// From the creation of four pods of another tenant until they run.
    newcomer: Duration,
}

/// A pod that no scheduler looks at: only its operator has to do with it.
fn idle(number: usize, requests: &Value, annotations: &Value) -> Result<Pod> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("p-{number}"), "annotations": annotations},
        "spec": {
            "schedulerName": "none",
            "containers": [{"name": "main", "image": "main", "resources": {"requests": requests}}],
        },
    }))?)
}

/// Alike pods that all have room.
fn ordinary(number: usize) -> Result<Pod> {
    idle(number, &json!({"cpu": "1m", "memory": "1Mi"}), &json!({}))
}

/// Pods of gangs of eight, each of another size, of which hardly any has room.
fn hostile(number: usize) -> Result<Pod> {
    let requests = json!({"cpu": format!("{}m", 1_000 + number), "memory": format!("{}Ki", 2_048 + number)});
    let gang = format!("g-{}", number / 8);
    idle(number, &requests, &json!({"quotient.dev/gang": gang, "quotient.dev/gang-min-available": "8"}))
}

/// What the operator needs beside so many pods of one tenant, in this mode.
async fn cost(admission: &str, pod: fn(usize) -> Result<Pod>) -> Result<Cost> {
    // So many pods with their bodies would make the audit log as large as the memory of the API server.
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "32"), ("memory", "64Gi")]).await?;
    install_chart(&bed).await?;
    let stage = Stage { bed, programs: Programs::build().await? };
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    stage.queue("team", json!({})).await?;
    if admission == "Gate" {
        stage.queue("crowd", json!({"admission": admission})).await?;
        until_gating(&stage, "crowd").await?;
    } else {
        // The quota comes later: it would be charged one pod after the other.
        stage.bed.create_namespace("crowd").await?;
    }
    let all: Api<Pod> = pods(&stage.bed.client(), "crowd");
    let create = async |number: usize| -> Result<()> {
        all.create(&PostParams::default(), &pod(number)?).await?;
        Ok(())
    };
    let begin = Instant::now();
    let many = crowd_size(2_000, 10_000);
    stream::iter(0..many).map(create).buffer_unordered(32).try_collect::<()>().await?;
    println!("{many} pods are created in {:?}", begin.elapsed());
    if admission != "Gate" {
        stage.queue_object("crowd", "crowd", json!({})).await?;
    }

    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &["--gate-mode"]).await?;
    eventually("the first cycle has ended", PATIENCE, async || {
        ensure!(operator.process().log().contains("the first cycle has ended"), "it does not say so");
        Ok(())
    })
    .await?;
    let start = ProcessNumbers::of(operator.process().pid())?.cpu;
    let begin = Instant::now();
    stage.deployment("team", "web", 4, objects::one_cpu(), false).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    let newcomer = begin.elapsed();
    let (_, text) = operator.get("/metrics").await?;
    let plans = Histogram::find(&text, "quotient_plan_duration_seconds")?;
    let plan = plans.mean().context("nothing was planned")?;
    let memory = ProcessNumbers::of(operator.process().pid())?.memory.peak;
    let log = operator.process().log();
    ensure!(!log.contains("panicked"), "the operator:\n{log}");
    operator.stop().await?;
    stage.bed.stop().await?;
    Ok(Cost { start, memory, plan, newcomer })
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_gated_pods_of_a_tenant_cost_others_nothing() -> Result<()> {
    let friendly = cost("Quota", ordinary).await?;
    println!("ordinary pods: {friendly:?}");
    let gated = cost("Gate", hostile).await?;
    println!("gated pods: {gated:?}");
    for (what, gated, friendly) in [
        ("start", gated.start, friendly.start),
        ("plan", gated.plan, friendly.plan),
        ("newcomer", gated.newcomer, friendly.newcomer),
    ] {
        ensure!(
            gated <= friendly * MOST + NOISE,
            "{what}: {gated:?} beside gated pods, {friendly:?} beside others"
        );
    }
    ensure!(
        gated.memory <= friendly.memory * u64::from(MOST),
        "memory: {} and {} KiB",
        gated.memory,
        friendly.memory
    );
    Ok(())
}
