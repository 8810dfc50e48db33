//! What admission charges without a pod, which happens when a quota is written while pods are refused.

use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use quotient_crds::names::USAGE_RESYNC_KEY;
use quotient_e2e::quotient::{OPERATOR_USER, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{KUBERNETES_RECOUNTS, Options, eventually, objects};
use serde_json::json;

/// Without the operator they would not be counted for five minutes.
const SOON: Duration = Duration::from_secs(60);

/// The pod was rejected by a foreign quota and then by ours, which charges eight cpu of no pod.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_charged_without_a_pod_is_counted_anew_and_the_refused_owner_is_told() -> Result<()> {
    let options = Options { recounts: Some(KUBERNETES_RECOUNTS), ..Options::default() };
    let stage = Stage::set_on(options, &[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.bed.create_namespace("team").await?;
    let quotas = stage.api::<ResourceQuota>("team");
    let closed = json!({"metadata": {"name": "closed"}, "spec": {"hard": {"pods": "0"}}});
    quotas.create(&PostParams::default(), &serde_json::from_value(closed)?).await?;
    eventually("no pod is admitted", PATIENCE, async || {
        let status = quotas.get("closed").await?.status.unwrap_or_default();
        ensure!(status.hard.is_some(), "{status:?}");
        Ok(())
    })
    .await?;
    stage.deployment("team", "web", 2, objects::one_cpu(), false).await?;
    stage.queue_object("team", "team", json!({"request": {"cpu": "8", "memory": "16Gi"}})).await?;
    stage.until_allowed("team", "cpu 8, memory 16Gi").await?;

    let miscounted = Patch::Merge(json!({"status": {"used": {"requests.cpu": "8"}}}));
    // No other user may write this status.
    let controller = stage.bed.user_kubeconfig("system:kube-controller-manager", Some("system:masters"))?;
    let as_controller: Api<ResourceQuota> = Api::namespaced(stage.bed.client_for(&controller).await?, "team");
    as_controller.patch_status("quotient", &PatchParams::default(), &miscounted).await?;
    quotas.delete("closed", &DeleteParams::default()).await?;
    eventually("the pods that were refused run", SOON, async || {
        let counts = stage.pod_counts("team").await?;
        ensure!(counts == PodCounts::running(2), "{counts:?}");
        Ok(())
    })
    .await?;
    let quota = quotas.get("quotient").await?;
    let used = quota.status.unwrap_or_default().used.unwrap_or_default();
    assert_eq!(used["requests.cpu"].0, "2");
    assert!(!quota.spec.unwrap_or_default().hard.unwrap_or_default().contains_key(USAGE_RESYNC_KEY));
    let marks = stage.bed.audit().events()?.into_iter().filter(|event| {
        let request = event.request.as_ref().map(ToString::to_string).unwrap_or_default();
        event.user == OPERATOR_USER && request.contains("usage-resync.quotient.dev")
    });
    assert_eq!(marks.count(), 2, "the key comes and goes");
    stage.end(operator).await
}
