//! QueueJobs beside Deployments and bare pods in one namespace, and an operator that is killed while slots move.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use quotient_crds::{QueueJob, QueueJobCondition};
use quotient_e2e::quotient::{
    OPERATOR_GROUP, OPERATOR_USER, Operator, PATIENCE, Stage, assert_clean, check_audit,
};
use quotient_e2e::testbed::proxy::{Call, Fault, Rule};
use quotient_e2e::testbed::{eventually, objects, until_is};
use quotient_invariants::Tolerance;
use serde_json::json;

use crate::queue_jobs::of_one_cpu;

/// The running pods of a Deployment.
async fn until_ready(stage: &Stage, name: &str, ready: i32) -> anyhow::Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(stage.bed.client(), "a");
    until_is(format!("{name} has {ready} ready pods"), ready, async || {
        Ok(deployments.get(name).await?.status.unwrap_or_default().ready_replicas.unwrap_or_default())
    })
    .await
}

async fn scale(stage: &Stage, name: &str, replicas: i32) -> anyhow::Result<()> {
    let (deployment, size) = (format!("deployment/{name}"), format!("--replicas={replicas}"));
    stage.bed.kubectl(["scale", &deployment, &size, "--namespace=a"]).await.map(drop)
}

/// The order: floors; then what Deployments lack and gangs that wait, by age; then slots above floors. Bare pods take
/// what is free when they are created.
#[tokio::test(flavor = "multi_thread")]
async fn jobs_deployments_and_bare_pods_share_a_queue() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "16", "64Gi")]).await?;
    stage.claim("a", json!({"limit": {"cpu": "6", "memory": "24Gi"}})).await?;
    let operator = stage.start_operator().await?;
    stage.submit("a", of_one_cpu("train", 2, 8)).await?;
    stage.until_jobs("a", "train 6/6").await?;

    // The quota rejects the creators of pods, and a bare pod that does not exist is unknown.
    let refused = stage.bed.create_pod("a", "bare", &[("cpu", "1"), ("memory", "1Gi")]).await;
    let refusal = refused.err().context("there was room for a bare pod")?.to_string();
    assert!(refusal.contains("exceeded quota: quotient"), "{refusal}");
    let mark = stage.bed.audit().mark()?;
    stage.deployment("a", "web", 2, objects::one_cpu(), false).await?;
    until_ready(&stage, "web", 2).await?;
    stage.until_jobs("a", "train 4/4").await?;
    stage.nothing_moves("a").await?;

    // A gang waits in the same line; what runs beyond floors makes room for it, pods of others do not.
    stage.submit("a", of_one_cpu("second", 2, 8)).await?;
    stage.until_jobs("a", "second 2/2, train 2/2").await?;
    scale(&stage, "web", 5).await?;
    stage.nothing_moves("a").await?;
    stage.until_jobs("a", "second 2/2, train 2/2").await?;
    until_ready(&stage, "web", 2).await?;
    stage.submit("a", of_one_cpu("third", 1, 1)).await?;
    let waits = ("False", "WaitingForRoom");
    stage.until_job_condition(("a", "third"), QueueJobCondition::Admitted, waits).await?;

    // What a Deployment leaves goes to the QueueJobs that wait, then to all evenly; a bare pod that was there keeps its place.
    scale(&stage, "web", 1).await?;
    stage.until_jobs("a", "second 2/2, third 1/1, train 2/2").await?;
    scale(&stage, "web", 0).await?;
    let jobs: Api<QueueJob> = Api::namespaced(stage.bed.client(), "a");
    jobs.delete("third", &DeleteParams::default()).await?;
    stage.until_jobs("a", "second 3/3, train 3/3").await?;
    jobs.delete("second", &DeleteParams::default()).await?;
    stage.until_jobs("a", "train 6/6").await?;
    scale(&stage, "web", 1).await?;
    until_ready(&stage, "web", 1).await?;
    stage.until_jobs("a", "train 5/5").await?;
    scale(&stage, "web", 0).await?;
    let jobs_patch = |suspend: bool| Patch::Merge(json!({"spec": {"suspend": suspend}}));
    jobs.patch("train", &PatchParams::default(), &jobs_patch(true)).await?;
    stage.until_jobs("a", "train 0/0").await?;
    eventually("a bare pod is let in", PATIENCE, async || {
        stage.bed.create_pod("a", "bare", &[("cpu", "1"), ("memory", "1Gi")]).await
    })
    .await?;
    jobs.patch("train", &PatchParams::default(), &jobs_patch(false)).await?;
    stage.until_jobs("a", "train 5/5").await?;
    stage.nothing_moves("a").await?;

    let events = stage.bed.audit().events_since(mark)?;
    let evictions: Vec<_> = events.iter().filter(|event| event.subresource == "eviction").collect();
    let log = operator.process().log();
    assert!(evictions.is_empty(), "slots move by parallelism alone: {evictions:#?}\n{log}");
    assert!(!log.contains("panicked"), "{log}");
    operator.stop().await?;
    stage.bed.stop().await
}

/// `SIGKILL` at the nth write while slots move from one QueueJob to another and back, just before or just after the API
/// server has carried it out.
#[tokio::test(flavor = "multi_thread")]
async fn an_operator_killed_while_slots_move_loses_nothing() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "32Gi")]).await?;
    let mut proxy = stage.bed.proxy(OPERATOR_USER, Some(OPERATOR_GROUP)).await?;
    let mut operator = Operator::start_behind(&proxy, &stage.bed, &stage.programs.operator).await?;
    stage.claim("a", json!({"limit": {"cpu": "4"}})).await?;
    stage.submit("a", of_one_cpu("job-01", 2, 4)).await?;
    stage.until_jobs("a", "job-01 4/4").await?;
    let jobs: Api<QueueJob> = Api::namespaced(stage.bed.client(), "a");
    let is_slot_write = |call: &Call| call.is_write() && !call.names("leases") && !call.names("events");
    let mut kills: u32 = 0;
    for nth in 0..6 {
        let fault = if nth % 2 == 0 { Fault::HoldBefore } else { Fault::HoldAfter };
        proxy.obey(vec![Rule::new(is_slot_write, fault).after(nth).times(1)]);
        stage.submit("a", of_one_cpu("job-02", 1, 4)).await?;
        let struck = tokio::select! {
            call = proxy.held() => Some(call),
            () = tokio::time::sleep(Duration::from_secs(5)) => None,
        };
        if let Some(call) = &struck {
            operator.process().kill()?;
            operator = Operator::start_behind(&proxy, &stage.bed, &stage.programs.operator).await?;
            kills = kills.saturating_add(1);
            println!("killed at write {nth}: {call}");
        }
        stage
            .until_jobs("a", "job-01 2/2, job-02 2/2")
            .await
            .with_context(|| format!("{nth}: {struck:?}"))?;
        proxy.obey(Vec::new());
        jobs.delete("job-02", &DeleteParams::default()).await?;
        stage.until_jobs("a", "job-01 4/4").await.with_context(|| format!("{nth}: {struck:?}"))?;
    }
    ensure!(kills >= 4, "only {kills} kills");
    stage.nothing_moves("a").await?;
    operator.stop().await?;
    assert_clean(&check_audit(
        &stage.bed.audit(),
        Tolerance { repeats: true, ..Tolerance::default() },
        false,
    )?)?;
    stage.bed.stop().await
}
