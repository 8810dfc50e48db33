//! The ledger on a real control plane: written before any quota, and what becomes of quotas when others write it, or lose it.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, ResourceQuota};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use quotient_crds::names::{GENERATION_ANNOTATION, LEDGER, LEDGER_KEY, QUOTA};
use quotient_e2e::quotient::{Operator, PATIENCE, SYSTEM_NAMESPACE, Stage, Write, writes_of_operator};
use quotient_e2e::testbed::{AuditMark, eventually};
use serde_json::json;

fn ledgers(stage: &Stage) -> Api<ConfigMap> {
    stage.api(SYSTEM_NAMESPACE)
}

async fn stamp(stage: &Stage, namespace: &str) -> anyhow::Result<u64> {
    let quota = stage.api::<ResourceQuota>(namespace).get(QUOTA).await?;
    let annotations = quota.metadata.annotations.unwrap_or_default();
    Ok(annotations.get(GENERATION_ANNOTATION).context("the quota has no stamp")?.parse()?)
}

#[tokio::test(flavor = "multi_thread")]
async fn quotas_follow_the_ledger() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let start = stage.bed.audit().mark()?;
    let operator = stage.start_operator().await?;
    for (namespace, weight) in [("a", 1), ("b", 3), ("c", 4)] {
        stage.claim(namespace, json!({"weight": weight})).await?;
    }
    stage.until_allowed("a", "cpu 1, memory 2Gi").await?;
    stage.until_allowed("b", "cpu 3, memory 6Gi").await?;
    stage.until_allowed("c", "cpu 4, memory 8Gi").await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;
    every_grant_is_written_before_a_quota(&stage, start)?;
    a_ledger_of_another_writer_is_read_again(&stage, &operator).await?;
    a_stamp_that_no_ledger_wrote_is_not_believed(&stage, &operator).await?;
    let operator = a_lost_ledger_is_made_up_from_the_quotas(&stage, operator).await?;
    operator.stop().await?;
    stage.bed.stop().await
}

/// Every grant is written down before any quota follows.
fn every_grant_is_written_before_a_quota(stage: &Stage, start: AuditMark) -> anyhow::Result<()> {
    let writes = writes_of_operator(&stage.bed.audit().events_since(start)?);
    let first = |resource: &str| writes.iter().position(|write| write.resource == resource);
    let (ledger, quota) = (first("configmaps"), first("resourcequotas"));
    assert!(ledger.is_some() && ledger < quota, "{writes:#?}");
    Ok(())
}

/// Another writer writes the ledger: the cycle is dropped, and what is decided next is right.
async fn a_ledger_of_another_writer_is_read_again(stage: &Stage, operator: &Operator) -> anyhow::Result<()> {
    let note = Patch::Merge(json!({"metadata": {"annotations": {"note": "mine"}}}));
    ledgers(stage).patch(LEDGER, &PatchParams::default(), &note).await?;
    let start = stage.bed.audit().mark()?;
    stage.patch_queue("c", "c", json!({"weight": 0})).await?;
    stage.until_allowed("a", "cpu 2, memory 4Gi").await?;
    stage.until_allowed("b", "cpu 6, memory 12Gi").await?;
    let writes: Vec<Write> = writes_of_operator(&stage.bed.audit().events_since(start)?);
    let refused = writes.iter().position(|write| write.resource == "configmaps" && write.code == 409);
    let quota = writes.iter().position(|write| write.resource == "resourcequotas");
    assert!(refused.is_some() && refused < quota, "{writes:#?}");
    let conflicts = operator.metric("quotient_ledger_conflicts_total").await?;
    assert!((0.5..1.5).contains(&conflicts), "{conflicts}");
    let ledger = ledgers(stage).get(LEDGER).await?;
    assert_eq!(ledger.metadata.annotations.unwrap_or_default().get("note").map(String::as_str), Some("mine"));
    Ok(())
}

/// Anyone may write a quota `quotient` into a namespace without a Queue, with any stamp. It moves no generation, and a stamp
/// that no ledger counts to is replaced in a managed namespace.
async fn a_stamp_that_no_ledger_wrote_is_not_believed(
    stage: &Stage,
    operator: &Operator,
) -> anyhow::Result<()> {
    stage.bed.create_namespace("unmanaged").await?;
    let latest = (1_u64 << 62).to_string();
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": {
            "name": QUOTA, "namespace": "unmanaged", "labels": {"app.kubernetes.io/managed-by": "quotient"},
            "annotations": {GENERATION_ANNOTATION: latest},
        },
        "spec": {"hard": {"requests.cpu": "1000"}},
    });
    stage.apply(&quota).await?;
    for stamp in ["0", "4611686018427387905", "18446744073709551615"] {
        let patch = Patch::Merge(json!({"metadata": {"annotations": {GENERATION_ANNOTATION: stamp}}}));
        stage.api::<ResourceQuota>("a").patch(QUOTA, &PatchParams::default(), &patch).await?;
    }
    stage.patch_queue("a", "a", json!({"weight": 3})).await?;
    stage.until_allowed("a", "cpu 4, memory 8Gi").await?;
    stage.until_allowed("b", "cpu 4, memory 8Gi").await?;
    assert!(stamp(stage, "a").await? < 100 && stamp(stage, "b").await? < 100);
    for reason in ["Missing", "Unreadable", "Older"] {
        let rebuilds =
            operator.metric(&format!("quotient_ledger_rebuilds_total{{reason=\"{reason}\"}}")).await?;
        assert!(rebuilds < 1.0, "{reason}");
    }
    Ok(())
}

/// A ledger that is deleted, or damaged, is made up from the quotas, every one of them is written under it, and shares
/// come out the same. Returns the next leader.
async fn a_lost_ledger_is_made_up_from_the_quotas(
    stage: &Stage,
    operator: Operator,
) -> anyhow::Result<Operator> {
    // It is missed when it is to be written next.
    ledgers(stage).delete(LEDGER, &DeleteParams::default()).await?;
    let before = (stamp(stage, "a").await?, stamp(stage, "b").await?);
    stage.patch_queue("a", "a", json!({"weight": 9})).await?;
    stage.until_allowed("a", "cpu 6, memory 12Gi").await?;
    stage.until_allowed("b", "cpu 2, memory 4Gi").await?;
    assert!(stamp(stage, "a").await? > before.0 && stamp(stage, "b").await? > before.1);
    assert!(operator.metric("quotient_ledger_rebuilds_total{reason=\"Missing\"}").await? > 0.0);
    operator.stop().await?;

    // Damaged while no operator runs: the next leader notices.
    let nonsense = Patch::Merge(json!({"binaryData": {LEDGER_KEY: "bm9uc2Vuc2U="}}));
    ledgers(stage).patch(LEDGER, &PatchParams::default(), &nonsense).await?;
    let before = (stamp(stage, "a").await?, stamp(stage, "b").await?);
    let operator = stage.start_operator().await?;
    eventually("both quotas bear a new stamp", PATIENCE, async || {
        ensure!(stamp(stage, "a").await? > before.0 && stamp(stage, "b").await? > before.1);
        Ok(())
    })
    .await?;
    assert!(operator.metric("quotient_ledger_rebuilds_total{reason=\"Unreadable\"}").await? > 0.0);
    stage.patch_queue("a", "a", json!({"weight": 1})).await?;
    stage.until_allowed("a", "cpu 2, memory 4Gi").await?;
    Ok(operator)
}
