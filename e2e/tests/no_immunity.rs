//! No pod of a tenant is immune: pods of system priority classes and of DaemonSets yield to another queue's guarantee.

use std::time::Duration;

use anyhow::{Result, ensure};
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage, label};
use quotient_e2e::testbed::{eventually, objects, until_is};
use serde_json::{Value, json};

/// What the tenant runs: a pod of one cpu on every node, and a Deployment of six that calls itself critical.
fn workloads() -> Value {
    let requests = objects::one_cpu();
    let critical = objects::workload("Deployment", "tenant", "critical", 6, &requests);
    objects::list([
        objects::workload("DaemonSet", "tenant", "agent", 1, &requests),
        objects::pods_with(critical, "priorityClassName", "system-cluster-critical"),
    ])
}

/// How many pods of each of the two run.
async fn running(stage: &Stage) -> Result<String> {
    stage.pods_by("tenant", |pod| label(pod, "app")).await
}

async fn until(stage: &Stage, what: &str, expected: &str) -> Result<()> {
    until_is(what, expected, async || running(stage).await).await
}

/// Eight cpus are borrowed by a DaemonSet and by pods of a system priority class; a queue with a guarantee of six needs them.
#[tokio::test(flavor = "multi_thread")]
async fn critical_pods_and_daemon_sets_yield_to_a_guarantee() -> Result<()> {
    let stage = Stage::set(&[("node-1", "4", "16Gi"), ("node-2", "4", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("tenant", json!({})).await?;
    stage.apply(&workloads()).await?;
    until(&stage, "the tenant borrows the whole cluster", "agent 2, critical 6").await?;

    stage.queue("owner", json!({"guaranteed": {"cpu": "6"}})).await?;
    stage.deployment("owner", "web", 6, objects::one_cpu(), false).await?;
    stage.until_pods("owner", PodCounts::running(6)).await?;
    // Pods of the DaemonSet and the last critical pod are protected alike; among them the lower priority goes first.
    until(&stage, "one pod of each is left", "agent 1, critical 1").await?;
    let refused = ["get", "events", "--namespace=tenant", "--field-selector=reason=FailedCreate"];
    let refused = refused.into_iter().chain(["-o=jsonpath={.items[*].message}"]);
    let said = stage.bed.kubectl(refused).await?;
    ensure!(said.contains("\"agent-") && said.contains("exceeded quota: quotient"), "{said}");
    eventually("the status names the DaemonSet", PATIENCE, async || {
        let unmet = serde_json::to_string(&stage.queue_status("tenant").await?.unmet)?;
        ensure!(unmet.contains("DaemonSet"), "{unmet}");
        Ok(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let left = running(&stage).await?;
    ensure!(left == "agent 1, critical 1", "{left}");

    // The guarantee is lent again: the DaemonSet is told, and its node has an agent at once.
    stage.bed.kubectl(["scale", "deployment/web", "--replicas=0", "--namespace=owner"]).await?;
    until(&stage, "the tenant borrows everything again", "agent 2, critical 6").await?;
    stage.end(operator).await
}
