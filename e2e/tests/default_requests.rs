//! Default requests: a quota rejects containers that name none, so a Queue gives them some, unless it says otherwise.

use anyhow::{Result, bail};
use k8s_openapi::api::core::v1::{LimitRange, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, until_is};
use serde_json::{Value, json};

/// A pod whose container names no requests.
fn modest(name: &str) -> Result<Pod> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "main"}]},
    }))?)
}

/// Waits until the namespace has a LimitRange `quotient` with these defaults, and nothing else.
async fn until_defaults(stage: &Stage, namespace: &str, requests: Value) -> Result<()> {
    let what = format!("containers of {namespace} have {requests}");
    let wanted = json!([{"type": "Container", "defaultRequest": requests}]);
    until_is(what, wanted, async || {
        let found = stage.api::<LimitRange>(namespace).get_opt("quotient").await?;
        let limits = found.and_then(|found| found.spec).map(|spec| spec.limits);
        Ok(serde_json::to_value(limits)?)
    })
    .await
}

/// Admission looks at a cache of its own, so a pod is tried until it is taken.
async fn until_created(stage: &Stage, namespace: &str, name: &str) -> Result<Pod> {
    let pod = modest(name)?;
    eventually(format!("{name} is created"), PATIENCE, async || {
        stage.api::<Pod>(namespace).create(&PostParams::default(), &pod).await
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_gives_containers_default_requests() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let repairs = ["--quota-repair-seconds=1"];
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &repairs).await?;
    a_pod_without_requests_starts_unless_defaults_are_off(&stage).await?;
    an_edited_or_deleted_limit_range_comes_back(&stage).await?;
    stage.end(operator).await
}

/// The same pod is rejected where they are turned off, for a reason that its user and its controller see, and starts with them.
async fn a_pod_without_requests_starts_unless_defaults_are_off(stage: &Stage) -> Result<()> {
    stage.claim("team", json!({"defaultRequests": {}})).await?;
    stage.until_allowed("team", "cpu 8, memory 16Gi").await?;

    let pods = stage.api::<Pod>("team");
    let refusal = eventually("a pod is refused", PATIENCE, async || {
        // Until admission's own cache has the quota.
        let Err(refusal) = pods.create(&PostParams::default(), &modest("first")?).await else {
            pods.delete("first", &DeleteParams::default().grace_period(0)).await?;
            bail!("it is let in");
        };
        Ok(refusal.to_string())
    })
    .await?;
    assert!(refusal.contains("failed quota: quotient: must specify requests.cpu"), "{refusal}");
    stage.deployment("team", "web", 1, json!({}), false).await?;
    let said = "failed quota: quotient: must specify requests.cpu";
    stage.until_event("team", "FailedCreate", said).await?;

    stage.patch_queue("team", "team", json!({"defaultRequests": null})).await?;
    until_defaults(stage, "team", json!({"cpu": "100m", "memory": "128Mi"})).await?;
    let pod = until_created(stage, "team", "second").await?;
    let resources = pod.spec.and_then(|spec| spec.containers.into_iter().next()?.resources);
    assert_eq!(
        serde_json::to_value(resources.and_then(|resources| resources.requests))?,
        json!({"cpu": "100m", "memory": "128Mi"})
    );
    // The Deployment's pod as well: its owner tries again by itself.
    stage.until_pods("team", PodCounts::running(2)).await?;
    let said = "New containers without requests get cpu 100m, memory 128Mi";
    stage.until_event("team", "DefaultRequestsWritten", said).await
}

/// It is restored after an edit and after a deletion.
async fn an_edited_or_deleted_limit_range_comes_back(stage: &Stage) -> Result<()> {
    let ranges = stage.api::<LimitRange>("team");
    stage.patch_queue("team", "team", json!({"defaultRequests": {"cpu": "0.2", "memory": "64Mi"}})).await?;
    let wanted = json!({"cpu": "200m", "memory": "64Mi"});
    until_defaults(stage, "team", wanted.clone()).await?;
    let edit = json!({"spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]}});
    ranges.patch("quotient", &PatchParams::default(), &Patch::Merge(edit)).await?;
    until_defaults(stage, "team", wanted.clone()).await?;
    ranges.delete("quotient", &DeleteParams::default()).await?;
    until_defaults(stage, "team", wanted).await
}
