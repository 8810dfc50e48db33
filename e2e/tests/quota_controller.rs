//! A quota controller that does not run: quotas are written, and admission goes on with the old ones.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use kube::Api;
use quotient_crds::{ConditionType, Queue};
use quotient_e2e::quotient::{Operator, PodCounts, Stage};
use quotient_e2e::testbed::{AuditMark, Component, objects, until_is};
use serde_json::json;

const STATUS: &str = "--status-interval-seconds=1";

/// Waits until the gainer says that the quota controller is not seen, and fails if a pod was evicted since `mark`.
async fn no_pod_is_evicted(stage: &Stage, operator: &Operator, mark: AuditMark) -> Result<()> {
    let queues: Api<Queue> = Api::namespaced(stage.bed.client(), "gains");
    until_is("the gainer says that no quota takes effect", "QuotaControllerSilent", async || {
        let status = queues.get("gains").await?.status.unwrap_or_default();
        let starved = status.condition(ConditionType::Starved).context("no condition")?;
        Ok(starved.reason.clone())
    })
    .await?;
    // Several proofs are asked for meanwhile.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let (_, metrics) = operator.get("/metrics").await?;
    let held = r#"quotient_reclaims_held{reason="QuotaControllerSilent"} 1"#;
    ensure!(metrics.lines().any(|line| line == held), "the alert does not see it");
    let events = stage.bed.audit().events_since(mark)?;
    let evictions = events.iter().filter(|event| event.is_about("pods/eviction")).count();
    ensure!(evictions == 0, "{evictions} evictions while no quota takes effect");
    Ok(())
}

/// The lowered quota is enforced already when the operator starts, so only the guard keeps it from evicting.
#[tokio::test(flavor = "multi_thread")]
async fn no_pod_is_evicted_while_no_quota_takes_effect_at_start() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let program = &stage.programs.operator;
    let operator = Operator::start_with(&stage.bed, program, &["--mode=Quota", STATUS]).await?;
    stage.claim("gives", json!({"weight": 1})).await?;
    stage.until_allowed("gives", "cpu 8, memory 16Gi").await?;
    stage.deployment("gives", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("gives", PodCounts::running(8)).await?;
    stage.claim("gains", json!({"weight": 1})).await?;
    stage.until_allowed("gives", "cpu 4, memory 8Gi").await?;
    operator.stop().await?;

    // At start.
    stage.bed.pause(Component::ControllerManager)?;
    let mark = stage.bed.audit().mark()?;
    let operator = Operator::start_with(&stage.bed, program, &[STATUS]).await?;
    no_pod_is_evicted(&stage, &operator, mark).await?;
    stage.bed.resume(Component::ControllerManager)?;
    stage.until_pods("gives", PodCounts::running(4)).await?;
    stage.until_allowed("gains", "cpu 4, memory 8Gi").await?;
    operator.process().must_run()?;
    stage.end(operator).await
}
