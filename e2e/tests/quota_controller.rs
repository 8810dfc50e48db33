//! A quota controller that does not run: quotas are written, and admission goes on with the old ones.

use std::time::Duration;

use anyhow::{Result, ensure};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{Operator, PodCounts, Stage};
use quotient_e2e::testbed::{AuditMark, Component, objects};
use serde_json::json;

const STATUS: &str = "--status-interval-seconds=1";

/// Waits until the gainer says that the quota controller is not seen, and fails if a pod was evicted since `mark`.
async fn no_pod_is_evicted(stage: &Stage, operator: &Operator, mark: AuditMark) -> Result<()> {
    stage.until_condition("gains", ConditionType::Starved, ("True", "QuotaControllerSilent")).await?;
    // Several proofs are asked for meanwhile.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let held = operator.metric(r#"quotient_reclaims_held{reason="QuotaControllerSilent"}"#).await?;
    ensure!(held > 0.0, "the alert does not see it");
    ensure!(
        stage.evicted(mark)?.is_empty(),
        "evicted while no quota takes effect: {:?}",
        stage.evicted(mark)?
    );
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
    stage.end(operator).await
}
