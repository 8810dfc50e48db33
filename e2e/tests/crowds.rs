//! A tenant with hundreds of autoscalers and workloads, with pods that request thousands of resources, and with hundreds of gated
//! pods, each unlike the others: the operator starts and decides for others as if they were not there.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use quotient_e2e::bench::hostile::{WIDE, autoscaler, create, crowd_size, resting, wide};
use quotient_e2e::quotient::{GATE_MODE, Operator, PATIENCE, PodCounts, Stage, quota_amounts, upgrade_chart};
use quotient_e2e::testbed::{eventually, objects};
use quotient_invariants::{Amount, Resource};
use serde_json::{Value, json};

use crate::gate::{gated_queue, pods};

/// A pod of a gang of eight, of a size of its own, that no scheduler looks at.
fn ganged(at: usize) -> Value {
    let requests = json!({"cpu": format!("{}m", 1_000 + at), "memory": format!("{}Ki", 2_048 + at)});
    json!({
        "metadata": {"name": format!("p-{at}"), "annotations": {
            "quotient.dev/gang": format!("g-{}", at / 8), "quotient.dev/gang-min-available": "8",
        }},
        "spec": {
            "schedulerName": "none",
            "containers": [{"name": "main", "image": "main", "resources": {"requests": requests}}],
        },
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn crowds_of_one_tenant_delay_no_other_queue() -> Result<()> {
    let stage = Stage::set(&[("node-1", "16", "32Gi")]).await?;
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    stage.claim("crowd", json!({"weight": 1})).await?;
    stage.claim("team", json!({"weight": 2})).await?;
    gated_queue(&stage, "gated", json!({"weight": 1})).await?;
    // A node that says it has a thousand resources that it has made up.
    let invented: Vec<String> = (0..1_000).map(|name| format!("y.io/{name}")).collect();
    let offered = invented.iter().map(|name| (name.as_str(), "1"));
    let offered: Vec<(&str, &str)> = [("cpu", "0"), ("memory", "0")].into_iter().chain(offered).collect();
    stage.bed.add_node("node-2", &offered).await?;
    stage.bed.create_namespace("resting").await?;
    let client = || stage.bed.client();
    let many = crowd_size(300, 1_500);
    create(&Api::<ReplicaSet>::namespaced(client(), "resting"), (0..many).map(resting)).await?;
    create(&Api::<HorizontalPodAutoscaler>::namespaced(client(), "resting"), (0..many).map(autoscaler))
        .await?;
    create(&pods(&client(), "gated"), (0..crowd_size(500, 10_000)).map(ganged)).await?;
    // Before the quota is there, which would count them.
    create(&pods(&client(), "crowd"), (0..2).map(|at| wide(at, WIDE))).await?;

    let begin = Instant::now();
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &["--gate-mode"]).await?;
    let quotas: Api<ResourceQuota> = Api::namespaced(client(), "team");
    let named = eventually("the team has its half", PATIENCE, async || {
        let hard = quotas.get("quotient").await?.status.and_then(|status| status.hard).unwrap_or_default();
        let cpu = quota_amounts(&hard)?.get(&Resource::named("cpu"));
        ensure!(Amount::from_text("8").is_some_and(|half| cpu >= half), "{cpu:?}");
        Ok(hard.len())
    })
    .await?;
    ensure!(named <= 66, "the quota names {named} resources");
    let started = begin.elapsed();
    ensure!(started < Duration::from_secs(45), "the operator took {started:?} to decide");

    // And goes on as fast.
    let begin = Instant::now();
    stage.deployment("team", "web", 4, objects::one_cpu(), false).await?;
    create(&pods(&client(), "crowd"), (2..4).map(|at| wide(at, WIDE))).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    let ran = begin.elapsed();
    ensure!(ran < Duration::from_secs(45), "four pods took {ran:?} to run");
    stage.end(operator).await
}
