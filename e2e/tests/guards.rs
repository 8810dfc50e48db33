//! Guards on a real control plane: quotas that people change, and devices that vanish.

use std::time::Duration;

use anyhow::ensure;
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, objects, until_is};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn people_and_device_plugins_cost_no_pod() -> anyhow::Result<()> {
    let stage = Stage::set(&[]).await?;
    for node in ["node-1", "node-2"] {
        stage.bed.add_node(node, &[("cpu", "4"), ("memory", "8Gi"), ("example.com/gpu", "4")]).await?;
    }
    let operator = Operator::start_with(
        &stage.bed,
        &stage.programs.operator,
        &["--capacity-grace-seconds", "8", "--quota-repair-seconds", "5"],
    )
    .await?;
    stage.claim("q1", json!({})).await?;
    stage.claim("q2", json!({})).await?;
    stage.until_allowed("q1", "cpu 4, example.com/gpu 4, memory 8Gi").await?;
    stage.until_allowed("q2", "cpu 4, example.com/gpu 4, memory 8Gi").await?;
    for namespace in ["q1", "q2"] {
        let requests = objects::one_cpu();
        stage.deployment(namespace, "web", 4, requests, false).await?;
        stage.until_pods(namespace, PodCounts::running(4)).await?;
    }
    let before = stage.bed.audit().mark()?;

    an_edited_quota_is_restored(&stage).await?;
    a_deleted_quota_is_restored(&stage).await?;
    devices_that_come_back_were_never_gone(&stage, &operator).await?;

    assert_eq!(stage.evicted(before)?, [].into());
    for namespace in ["q1", "q2"] {
        assert_eq!(stage.pod_counts(namespace).await?, PodCounts::running(4));
    }
    operator.stop().await?;
    stage.bed.stop().await
}

async fn repairs(stage: &Stage, namespace: &str) -> anyhow::Result<String> {
    let path = "-o=jsonpath={range .items[?(@.reason=='QuotaRepaired')]}{.note}{'\\n'}{end}";
    stage.bed.kubectl(["get", "events.v1.events.k8s.io", "-n", namespace, path]).await
}

async fn an_edited_quota_is_restored(stage: &Stage) -> anyhow::Result<()> {
    let patch = r#"{"spec": {"hard": {"requests.cpu": "99"}}}"#;
    stage
        .bed
        .kubectl(["patch", "resourcequota", "quotient", "-n", "q1", "--type=merge", "-p", patch])
        .await?;
    stage.until_allowed("q1", "cpu 4, example.com/gpu 4, memory 8Gi").await?;
    eventually("the event names who did it", PATIENCE, async || {
        let printed = repairs(stage, "q1").await?;
        ensure!(
            printed.contains("edited by kubectl-patch") && printed.contains("cpu from 99 to 4"),
            "{printed}"
        );
        Ok(())
    })
    .await
}

async fn a_deleted_quota_is_restored(stage: &Stage) -> anyhow::Result<()> {
    stage.bed.kubectl(["delete", "resourcequota", "quotient", "-n", "q2"]).await?;
    eventually("the quota is there again", PATIENCE, async || {
        stage.bed.kubectl(["get", "resourcequota", "quotient", "-n", "q2"]).await?;
        Ok::<(), anyhow::Error>(())
    })
    .await?;
    stage.until_allowed("q2", "cpu 4, example.com/gpu 4, memory 8Gi").await?;
    let printed = repairs(stage, "q2").await?;
    assert!(printed.contains("deleted by another writer"), "{printed}");
    Ok(())
}

/// What every node has of devices.
async fn devices(stage: &Stage, count: &str) -> anyhow::Result<()> {
    let amounts = json!({"example.com/gpu": count});
    let patch = json!({"status": {"allocatable": amounts, "capacity": amounts}}).to_string();
    for node in ["node-1", "node-2"] {
        let arguments = ["patch", "node", node, "--subresource=status", "--type=merge", "-p", &patch];
        stage.bed.kubectl(arguments).await?;
    }
    Ok(())
}

async fn until_held(operator: &Operator, expected: f64) -> anyhow::Result<()> {
    until_is(format!("what is taken is held: {expected}"), expected, async || {
        operator.metric(r#"quotient_reclaims_held{reason="CapacityUntrusted"}"#).await
    })
    .await
}

async fn devices_that_come_back_were_never_gone(stage: &Stage, operator: &Operator) -> anyhow::Result<()> {
    devices(stage, "0").await?;
    until_held(operator, 1.0).await?;
    stage.until_condition("q1", ConditionType::Ready, ("True", "CapacityUntrusted")).await?;
    devices(stage, "4").await?;
    until_held(operator, 0.0).await?;
    stage.until_quiet_for(Duration::from_secs(2)).await?;
    stage.until_allowed("q1", "cpu 4, example.com/gpu 4, memory 8Gi").await?;

    // What stays away is believed in the end.
    devices(stage, "0").await?;
    until_held(operator, 1.0).await?;
    until_held(operator, 0.0).await
}
