//! A team that keeps its pods with a disruption budget: the other team is told how much that is, and an administrator can end it.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::DeleteParams;
use quotient_crds::{ConditionType, Queue};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::eventually;
use quotient_invariants::Tolerance;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn budgets_that_never_allow_are_told_with_their_amount_and_an_administrator_ends_it() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let status = ["--status-interval-seconds=1"];
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &status).await?;
    stage.claim("keeps", json!({"weight": 1})).await?;
    stage.until_allowed("keeps", "cpu 8, memory 16Gi").await?;
    stage.deployment("keeps", "web", 8, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("keeps", PodCounts::running(8)).await?;
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"namespace": "keeps", "name": "for-ever"},
        "spec": {"maxUnavailable": 0, "selector": {}},
    });
    stage.bed.apply(&budget.to_string()).await?;

    stage.claim("waits", json!({"weight": 1})).await?;
    stage.until_quota("waits").await?;
    stage.deployment("waits", "web", 4, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    let queues: Api<Queue> = Api::namespaced(stage.bed.client(), "waits");
    eventually("the queue that waits is told how much is kept, and the way out", PATIENCE, async || {
        let status = queues.get("waits").await?.status.unwrap_or_default();
        let starved = status.condition(ConditionType::Starved).context("no condition")?;
        let told = format!("{}: {}", starved.reason, starved.message);
        for part in
            ["Budget: ", "budget for-ever", "uses cpu 4 above its nominal share", "kubectl delete pod"]
        {
            ensure!(told.contains(part), "{part} is not in {told}");
        }
        Ok(())
    })
    .await?;

    // An administrator deletes as many pods. The lowered quota keeps their successors out.
    let pods: Api<Pod> = Api::namespaced(stage.bed.client(), "keeps");
    for pod in stage.pods("keeps").await?.iter().take(4) {
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        pods.delete(name, &DeleteParams::default()).await?;
    }
    stage.until_pods("waits", PodCounts::running(4)).await?;
    stage.until_pods("keeps", PodCounts::running(4)).await?;
    operator.process().must_run()?;
    operator.stop().await?;
    stage.end(Tolerance::default()).await
}
