//! A pause on a real control plane: it is honored, and ends by itself. `observation.rs` tells of modes.

use std::time::Duration;

use anyhow::{Result, ensure};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage, queue};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::json;

/// How long a change of a Queue may take to show in its status, on a busy machine.
const SOON: Duration = Duration::from_secs(10);

/// Waits until the column STATE of a Queue says so.
async fn until_state(stage: &Stage, namespace: &str, expected: &str, patience: Duration) -> Result<()> {
    eventually(format!("{namespace} is {expected}"), patience, async || {
        let shown = stage.queue_status(namespace).await?.summary.and_then(|summary| summary.state);
        ensure!(shown.as_deref() == Some(expected), "{shown:?}");
        Ok(())
    })
    .await
}

/// While the pause lasts, the quota stays as it is or as a person leaves it; after it the share moves without a person.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_is_honored_and_ends_by_itself() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    let bed = &stage.bed;
    stage.queue("uses", json!({})).await?;
    stage.deployment("uses", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("uses", PodCounts::running(8)).await?;
    stage.until_cpu("uses", "8").await?;

    let until = Timestamp::now().checked_add(SignedDuration::from_secs(45))?;
    let until = Timestamp::from_second(until.as_second())?;
    stage.patch_queue("uses", "uses", json!({"pausedUntil": until.to_string()})).await?;
    until_state(&stage, "uses", "Paused", SOON).await?;
    let said = stage.until_condition("uses", ConditionType::Ready, ("True", "Paused")).await?;
    ensure!(said.contains(&until.to_string()), "{said}");

    let before = bed.audit().mark()?;
    stage.queue("comes", json!({})).await?;
    // Pods that come before the quota would be there, and lack nothing but a node.
    stage.until_cpu("comes", "0").await?;
    stage.deployment("comes", "web", 4, objects::one_cpu(), false).await?;
    until_state(&stage, "comes", "EvictionsDisabled", PATIENCE).await?;
    stage.until_cpu("uses", "8").await?;

    // Break-glass: what a person makes of the quota stays.
    let quotas: Api<ResourceQuota> = Api::namespaced(bed.client(), "uses");
    let edit = json!({"spec": {"hard": {"requests.cpu": "9"}}});
    quotas.patch("quotient", &PatchParams::default(), &Patch::Merge(edit)).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    stage.until_cpu("uses", "9").await?;
    quotas.delete("quotient", &DeleteParams::default()).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let is_paused = Timestamp::now() < until;
    ensure!(is_paused, "the machine is too slow: the pause has ended");
    ensure!(quotas.get_opt("quotient").await?.is_none(), "the quota is there again");
    let view = queue(bed, "uses", "uses").await?;
    assert_eq!(view.conditions["Ready"], "Paused");
    ensure!(stage.evicted(before)?.is_empty(), "{:?}", stage.evicted(before)?);

    stage.until_pods("uses", PodCounts::running(4)).await?;
    stage.until_pods("comes", PodCounts::running(4)).await?;
    let evicted = stage.evictions(before)?;
    assert_eq!(evicted.len(), 4, "{evicted:?}");
    ensure!(evicted.iter().all(|eviction| eviction.received >= until), "evicted before {until}: {evicted:?}");
    until_state(&stage, "comes", "OK", PATIENCE).await?;
    stage.end(operator).await
}
