//! Pods that the API server refuses whatever room there is: the Queue says so within a minute, and where to look.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::{Queue, Unmet};
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::json;

/// One minute, and what a busy machine needs to write and to read it.
const A_MINUTE: Duration = Duration::from_secs(75);

/// What `status.unmet` of the Queue of this namespace says of the first workload whose kind and name begin so.
async fn unmet(stage: &Stage, namespace: &str, what: &str) -> Result<Option<Unmet>> {
    let queues = stage.api::<Queue>(namespace);
    let status = queues.get(namespace).await?.status.unwrap_or_default();
    Ok(status.unmet.into_iter().find(|unmet| format!("{} {}", unmet.kind, unmet.name).starts_with(what)))
}

/// Waits until the Queue says this of it, and every one of these texts. Before `deadline`.
async fn until_told(
    stage: &Stage,
    (namespace, what): (&str, &str),
    reason: &str,
    texts: &[&str],
    deadline: Instant,
) -> Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    eventually(format!("{namespace} says {reason} of {what}"), left, async || {
        let unmet = unmet(stage, namespace, what).await?.context("nothing is said of it")?;
        ensure!(unmet.reason == reason, "{unmet:?}");
        ensure!(texts.iter().all(|text| unmet.message.contains(text)), "{unmet:?}");
        ensure!(unmet.message.chars().count() <= 240, "{unmet:?}");
        Ok(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_that_the_api_server_refuses_are_told_within_a_minute() -> Result<()> {
    let stage = Stage::set(&[("node-1", "32", "64Gi")]).await?;
    let operator = stage.start_operator().await?;
    for team in ["team", "strict"] {
        stage.claim(team, json!({"defaultRequests": {}})).await?;
    }
    let namespaces: Api<Namespace> = Api::all(stage.bed.client());
    let restricted = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    namespaces.patch("strict", &PatchParams::default(), &Patch::Merge(restricted)).await?;
    for team in ["team", "strict"] {
        stage.until_allowed(team, "cpu 16, memory 32Gi").await?;
    }

    let small = objects::one_cpu();
    let with_absent_account = |workload| objects::pods_with(workload, "serviceAccountName", "nobody");
    let begin = Instant::now();
    for workload in [
        objects::workload("Deployment", "team", "careless", 2, &json!({})),
        with_absent_account(objects::workload("Deployment", "team", "web", 2, &small)),
        objects::workload("Deployment", "strict", "root", 2, &small),
        with_absent_account(objects::workload("Job", "team", "train", 1, &small)),
        objects::workload("Job", "team", "open", 1, &json!({"cpu": "1"})),
        with_absent_account(objects::workload("StatefulSet", "team", "db", 1, &small)),
        // What runs is not mentioned, and nothing of this keeps it from running.
        objects::workload("Deployment", "team", "fine", 2, &small),
    ] {
        stage.apply(&workload).await?;
    }

    let deadline = begin + A_MINUTE;
    let team = |what| ("team", what);
    let rejected = "PodsRejected";
    let defaults = "set the requests in its template, or defaultRequests of the Queue";
    let careless = ["must specify requests.cpu for: main", defaults];
    until_told(&stage, team("ReplicaSet careless"), rejected, &careless, deadline).await?;
    let account = ["serviceaccount \"nobody\" not found", "create the ServiceAccount"];
    until_told(&stage, team("ReplicaSet web"), rejected, &account, deadline).await?;
    let policy = ["violates PodSecurity \"restricted:latest\"", "the pod-security labels of the namespace"];
    until_told(&stage, ("strict", "ReplicaSet root"), rejected, &policy, deadline).await?;
    let open = ["demands a request for memory of each container", defaults];
    until_told(&stage, team("Job open"), rejected, &open, deadline).await?;
    // Nothing in their status tells that their pods are refused.
    for (what, command) in [("Job train", "job train"), ("StatefulSet db", "statefulset db")] {
        let command = format!("kubectl -n team describe {command}");
        until_told(&stage, team(what), "PodsNotCreated", &[&command], deadline).await?;
    }
    let events = stage.bed.kubectl(["--namespace=team", "describe", "job", "train"]).await?;
    ensure!(
        events.contains("serviceaccount \"nobody\" not found"),
        "the events say nothing of it:\n{events}"
    );
    stage.until_pods("team", PodCounts::running(2)).await?;
    assert_eq!(unmet(&stage, "team", "ReplicaSet fine").await?, None);

    // Another process goes on from what the status says: the minute does not begin anew.
    operator.stop().await?;
    let operator = stage.start_operator().await?;
    let deadline = Instant::now() + Duration::from_secs(30);
    until_told(&stage, team("Job train"), "PodsNotCreated", &[], deadline).await?;

    // What is mended starts and is not mentioned any more.
    stage.bed.kubectl(["--namespace=team", "set", "serviceaccount", "deployment/web", "default"]).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    eventually("web is not mentioned any more", PATIENCE, async || {
        let unmet = unmet(&stage, "team", "ReplicaSet web").await?;
        ensure!(unmet.is_none(), "{unmet:?}");
        Ok(())
    })
    .await?;
    for (kind, name) in [("deployment", "careless"), ("job", "open"), ("job", "train"), ("statefulset", "db")]
    {
        stage.bed.kubectl(["--namespace=team", "delete", kind, name]).await?;
    }
    stage.bed.kubectl(["--namespace=strict", "delete", "deployment", "root"]).await?;
    stage.end(operator).await
}
