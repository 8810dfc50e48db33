//! A tenant with hundreds of autoscalers and workloads, and with pods that request thousands of resources: the operator
//! starts and decides for others as if they were not there.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::Api;
use quotient_e2e::bench::hostile::{WIDE, autoscaler, create, crowd_size, resting, wide};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn crowds_of_one_tenant_delay_no_other_queue() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    for team in ["crowd", "team"] {
        stage.claim(team, json!({"weight": 1})).await?;
    }
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
    // Before the quota is there, which would count them.
    create(&Api::<Pod>::namespaced(client(), "crowd"), (0..2).map(|at| wide(at, WIDE))).await?;

    let begin = Instant::now();
    let operator: Operator = stage.start_operator().await?;
    let quotas: Api<ResourceQuota> = Api::namespaced(client(), "team");
    let named = eventually("the team has its half", PATIENCE, async || {
        let hard = quotas.get("quotient").await?.status.and_then(|status| status.hard).unwrap_or_default();
        let cpu = hard.get("requests.cpu").map(|amount| amount.0.clone());
        ensure!(cpu.as_deref() == Some("4"), "{cpu:?}");
        Ok(hard.len())
    })
    .await?;
    ensure!(named <= 66, "the quota names {named} resources");
    let started = begin.elapsed();
    ensure!(started < Duration::from_secs(45), "the operator took {started:?} to decide");

    // And goes on as fast.
    let begin = Instant::now();
    stage.deployment("team", "web", 4, objects::one_cpu(), false).await?;
    create(&Api::<Pod>::namespaced(client(), "crowd"), (2..4).map(|at| wide(at, WIDE))).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    let ran = begin.elapsed();
    ensure!(ran < Duration::from_secs(45), "four pods took {ran:?} to run");
    let log = operator.process().log();
    ensure!(!log.contains("panicked"), "the operator:\n{log}");
    operator.process().must_run()?;
    stage.end(operator).await
}
