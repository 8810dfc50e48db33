//! What people and programs learn of an eviction, and pods that end too slowly.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use quotient_crds::RecentReclaim;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, objects, until_is};
use serde_json::json;

use crate::prometheus::a_live_scrape_follows_the_conventions;

/// Longer than a status that only informs has to wait.
const INFORMED: Duration = Duration::from_secs(30);

/// One stage for three scenes, each with namespaces of its own.
#[tokio::test(flavor = "multi_thread")]
async fn evictions_are_told_slow_pods_are_capped_and_rollouts_named() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "4", "8Gi")]).await?;
    let operator = stage.start_operator().await?;
    let operator = an_eviction_is_told_and_listed(&stage, operator).await?;
    for team in ["a", "b", "c"] {
        stage.remove_queue(team).await?;
    }
    a_pod_that_takes_hours_ends_within_the_cap(&stage).await?;
    for team in ["slow", "quick"] {
        stage.remove_queue(team).await?;
    }
    a_rollout_at_a_full_share_names_the_ways_out(&stage).await?;
    a_live_scrape_follows_the_conventions(&operator).await?;
    stage.end(operator).await
}

/// Four pods of one Deployment hold all of the cluster.
async fn fill(stage: &Stage, team: &str, hold: bool) -> anyhow::Result<()> {
    stage.claim(team, json!({})).await?;
    stage.until_allowed(team, "cpu 4, memory 8Gi").await?;
    stage.deployment(team, "web", 4, objects::one_cpu(), hold).await?;
    stage.until_pods(team, PodCounts::running(4)).await
}

/// The events with reason `Reclaimed` in a namespace.
async fn reclaimed(stage: &Stage, team: &str) -> anyhow::Result<Vec<Event>> {
    let events = stage.api::<Event>(team);
    let all = events.list(&ListParams::default()).await?.items;
    Ok(all.into_iter().filter(|event| event.reason.as_deref() == Some("Reclaimed")).collect())
}

async fn recent(stage: &Stage) -> anyhow::Result<Vec<RecentReclaim>> {
    Ok(stage.queue_status("a").await?.recent_reclaims)
}

/// The pods and their Deployment have events, and the status of the queue lists the pods; a new leader keeps the list.
async fn an_eviction_is_told_and_listed(stage: &Stage, operator: Operator) -> anyhow::Result<Operator> {
    fill(stage, "a", false).await?;
    stage.claim("b", json!({})).await?;
    stage.until_allowed("b", "cpu 2, memory 4Gi").await?;
    let reclaimed = eventually("pods and Deployment are told", PATIENCE, async || {
        let reclaimed = reclaimed(stage, "a").await?;
        let subjects = |kind: &str| {
            let kind_of = |event: &&Event| event.regarding.as_ref()?.kind.as_deref().map(|of| of == kind);
            reclaimed.iter().filter(|event| kind_of(event).unwrap_or_default()).count()
        };
        ensure!(subjects("Pod") == 2 && (1..=2).contains(&subjects("Deployment")), "{reclaimed:#?}");
        Ok(reclaimed)
    })
    .await?;
    for event in &reclaimed {
        let related = event.related.as_ref().context("no related object")?;
        assert_eq!((related.kind.as_deref(), related.name.as_deref()), (Some("Queue"), Some("b")));
        let note = event.note.as_deref().context("no message")?;
        assert!(note.contains("for queue b because queue a uses"), "{note}");
        assert!(note.chars().count() <= 240, "{note}");
    }

    let listed = eventually("the status lists both pods", INFORMED, async || {
        let listed = recent(stage).await?;
        ensure!(listed.len() == 2, "{listed:#?}");
        Ok(listed)
    })
    .await?;
    for one in &listed {
        let workload = one.workload.as_ref().context("no workload")?;
        assert_eq!((&*workload.kind, &*workload.name), ("Deployment", "web"));
        assert_eq!((one.beneficiary.as_deref(), &*one.reason), (Some("b/b"), "Reclaimed"));
        assert_eq!(serde_json::to_value(&one.amounts)?, objects::one_cpu());
        assert!(one.rank.is_some_and(|rank| (1..=4).contains(&rank)), "{one:?}");
    }
    operator.stop().await?;

    let operator = stage.start_operator().await?;
    stage.until_quiet_for(Duration::from_secs(5)).await?;
    assert_eq!(recent(stage).await?, listed);
    // A third queue takes another pod: it is listed before these.
    stage.claim("c", json!({"weight": 2})).await?;
    eventually("the new leader adds to the list", INFORMED, async || {
        let now = recent(stage).await?;
        ensure!(now.len() == 3 && now.ends_with(&listed), "{now:#?}");
        Ok(())
    })
    .await?;
    Ok(operator)
}

/// Pods that something else deleted with hours of grace are evicted again with the cap, once, when their room is needed.
async fn a_pod_that_takes_hours_ends_within_the_cap(stage: &Stage) -> anyhow::Result<()> {
    fill(stage, "slow", true).await?;
    let pods = stage.api::<Pod>("slow");
    let hours = DeleteParams { grace_period_seconds: Some(64_800), ..DeleteParams::default() };
    for pod in stage.pods("slow").await?.iter().take(2) {
        pods.delete(pod.metadata.name.as_deref().unwrap_or_default(), &hours).await?;
    }
    stage.until_pods("slow", PodCounts { running: 2, terminating: 2, ..PodCounts::default() }).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    let given = async || -> anyhow::Result<Vec<i64>> {
        let all = stage.pods("slow").await?;
        Ok(all.iter().filter_map(|pod| pod.metadata.deletion_grace_period_seconds).collect())
    };
    assert_eq!(given().await?, [64_800; 2], "nothing needs their room");

    let before = stage.bed.audit().mark()?;
    stage.claim("quick", json!({})).await?;
    until_is("both have the cap", [600; 2], async || given().await).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    assert_eq!(stage.evictions(before)?.len(), 2, "each is evicted once");
    let reclaimed = reclaimed(stage, "slow").await?;
    let notes: Vec<&str> = reclaimed.iter().filter_map(|event| event.note.as_deref()).collect();
    assert!(
        notes.len() == 2
            && notes.iter().all(|note| note.starts_with("Evicted again with 600 s of grace for queue quick")),
        "{notes:?}"
    );
    stage.release("slow").await?;
    stage.until_allowed("quick", "cpu 2, memory 4Gi").await
}

/// A rolling update at a full share keeps its three pods and waits for room for a fourth: the queue says so, and with
/// `maxUnavailable: 1` it goes on.
async fn a_rollout_at_a_full_share_names_the_ways_out(stage: &Stage) -> anyhow::Result<()> {
    stage.claim("rolls", json!({"limit": {"cpu": "3"}})).await?;
    stage.until_allowed("rolls", "cpu 3, memory 8Gi").await?;
    stage.deployment("rolls", "web", 3, objects::one_cpu(), false).await?;
    stage.until_pods("rolls", PodCounts::running(3)).await?;
    let deployments = stage.api::<Deployment>("rolls");
    let patch = async |spec| deployments.patch("web", &PatchParams::default(), &Patch::Strategic(spec)).await;
    let image = json!([{"name": "main", "image": "registry.k8s.io/pause:3.9"}]);
    patch(json!({"spec": {"template": {"spec": {"containers": image}}}})).await?;
    eventually("the queue names the ways out", INFORMED, async || {
        let unmet = stage.queue_status("rolls").await?.unmet;
        let is_reported = unmet.iter().any(|one| {
            one.reason == "RolloutNeedsRoom"
                && one.message.contains("The rollout of Deployment web waits")
                && one.message.contains("Set maxUnavailable to at least 1, or raise the share or limit")
        });
        ensure!(is_reported, "{unmet:?}");
        Ok(())
    })
    .await?;
    stage.until_pods("rolls", PodCounts::running(3)).await?;

    patch(json!({"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": 1}}}})).await?;
    eventually("the rollout ends", PATIENCE, async || {
        let status = deployments.get("web").await?.status.unwrap_or_default();
        ensure!(status.updated_replicas == Some(3) && status.available_replicas == Some(3), "{status:?}");
        ensure!(stage.queue_status("rolls").await?.unmet.is_empty(), "still unmet");
        Ok(())
    })
    .await
}
