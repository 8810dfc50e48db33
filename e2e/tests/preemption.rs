//! S-PREEMPT on a real control plane: every intermediate state, the order of writes, and rest at the end.

use std::time::Duration;

use anyhow::Context as _;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ResourceQuota;
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_e2e::quotient::{Operator, PodCounts, Stage, queue, quota_amounts, writes_of_operator};
use quotient_e2e::testbed::{AuditEvent, objects, until_is};
use quotient_amounts::{Amounts, Resource};
use serde_json::json;

/// S-PREEMPT §Preemption stage: Queue-3 joins, Queue-1 and Queue-2 give one cpu each. Then §Preprocess stage.
#[tokio::test(flavor = "multi_thread")]
async fn a_third_queue_joins_and_an_overused_queue_is_brought_back() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "9", "27Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.claim("q1", json!({"weight": 2})).await?;
    stage.claim("q2", json!({"weight": 4})).await?;
    stage
        .until_shares(
            "the two queues share 1 to 2",
            "q1/q1: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing
             q2/q2: deserved cpu 6, memory 18Gi; allocated cpu 6, memory 18Gi; preempting nothing",
        )
        .await?;
    // Terminating pods stay until they are released, so that the state in between can be looked at.
    stage.deployment("q1", "large", 1, json!({"cpu": "2", "memory": "1Gi"}), true).await?;
    stage.deployment("q1", "small", 1, objects::one_cpu(), true).await?;
    // One replica each: all are last replicas, so that none is spared for it.
    stage.deployment("q2", "large-1", 1, json!({"cpu": "2", "memory": "1Gi"}), true).await?;
    stage.deployment("q2", "large-2", 1, json!({"cpu": "2", "memory": "1Gi"}), true).await?;
    stage.deployment("q2", "small", 1, objects::one_cpu(), true).await?;
    stage.until_pods("q1", PodCounts::running(2)).await?;
    stage.until_pods("q2", PodCounts::running(3)).await?;

    let before = stage.bed.audit().mark()?;
    stage.claim("q3", json!({"weight": 3})).await?;
    let in_between = "
        q1/q1: deserved cpu 2, memory 6Gi; allocated cpu 2, memory 6Gi; preempting nothing
        q2/q2: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
        q3/q3: deserved cpu 3, memory 9Gi; allocated cpu 1, memory 9Gi; preempting cpu 2";
    stage.until_shares("two cpu are on their way to q3", in_between).await?;
    stage.until_pods("q1", PodCounts { running: 1, terminating: 1, pending: 0 }).await?;
    stage.until_pods("q2", PodCounts { running: 2, terminating: 1, pending: 0 }).await?;
    for namespace in ["q1", "q2"] {
        for pod in stage.pods(namespace).await? {
            let small = pod.metadata.name.as_deref().is_some_and(|name| name.starts_with("small"));
            assert_eq!(
                pod.metadata.deletion_timestamp.is_some(),
                small,
                "the 1-cpu pods go, the others stay"
            );
        }
    }
    assert_eq!(queue(&stage.bed, "q3", "q3").await?.conditions["Starved"], "WaitingForPreemption");
    // As long as the pods hang on, nothing moves, and no pod is evicted in their place.
    tokio::time::sleep(Duration::from_secs(3)).await;
    stage.until_shares("two cpu are still on their way", in_between).await?;

    stage.release("q1").await?;
    stage.release("q2").await?;
    stage
        .until_shares(
            "q3 has its share",
            "q1/q1: deserved cpu 2, memory 6Gi; allocated cpu 2, memory 6Gi; preempting nothing
             q2/q2: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
             q3/q3: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing",
        )
        .await?;
    stage.until_pods("q1", PodCounts::running(1)).await?;
    stage.until_pods("q2", PodCounts::running(2)).await?;
    let events = stage.bed.audit().events_since(before)?;
    assert_evictions_wait_for_the_quota(&events)?;
    assert_nothing_grows_before_the_room_is_free(&events)?;
    rests_for_a_minute(&stage).await?;
    a_queue_that_a_race_overfilled_is_brought_back(&stage, &operator).await?;
    stage.end(operator).await
}

/// The four promises of S-QUEUE, and no write.
async fn rests_for_a_minute(stage: &Stage) -> anyhow::Result<()> {
    // What is used is reported within 15 s, events trail by a moment.
    used(stage, "q1", "cpu 2, memory 1Gi").await?;
    used(stage, "q2", "cpu 4, memory 2Gi").await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;
    let settled = stage.bed.audit().mark()?;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let writes = writes_of_operator(&stage.bed.audit().events_since(settled)?);
    assert!(writes.is_empty(), "writes at rest: {writes:#?}");
    for (namespace, pods) in [("q1", 1), ("q2", 2), ("q3", 0)] {
        let view = queue(&stage.bed, namespace, namespace).await?;
        assert_eq!(view.deserved, view.allocated, "{namespace}: A = D");
        assert!(view.used.fits_in(&view.allocated), "{namespace}: used ≤ A");
        assert!(view.preempting.is_empty(), "{namespace}: nothing is preempting");
        assert_eq!(
            stage.pod_counts(namespace).await?,
            PodCounts::running(pods),
            "the evicted are not recreated"
        );
    }
    Ok(())
}

/// S-PREEMPT §Preprocess stage: once Queue-3 has left, a race lets more into Queue-1 than it is allocated.
async fn a_queue_that_a_race_overfilled_is_brought_back(
    stage: &Stage,
    operator: &Operator,
) -> anyhow::Result<()> {
    stage.remove_queue("q3").await?;
    for namespace in ["q1", "q2"] {
        stage.clear(namespace).await?;
    }
    let shares = "
        q1/q1: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing
        q2/q2: deserved cpu 6, memory 18Gi; allocated cpu 6, memory 18Gi; preempting nothing";
    stage.until_shares("the two queues share 1 to 2", shares).await?;

    // While the operator sleeps, a person raises the quota, a third pod slips in, and the quota is put back. No node
    // has room for it.
    operator.process().pause()?;
    let one = [("cpu", "1"), ("memory", "1Gi")];
    let two = [("cpu", "2"), ("memory", "1Gi")];
    for (namespace, name, size) in [("q2", "pod-1", two), ("q2", "pod-2", two), ("q2", "pod-3", one)] {
        stage.bed.create_pod(namespace, name, &size).await?;
    }
    for (name, size) in [("pod-2", two), ("pod-3", one)] {
        stage.bed.create_pod("q1", name, &size).await?;
    }
    stage.until_pods("q1", PodCounts::running(2)).await?;
    stage.until_pods("q2", PodCounts::running(3)).await?;
    lift_quota(stage, "q1", "5").await?;
    stage.bed.create_pod("q1", "pod-1", &two).await?;
    lift_quota(stage, "q1", "3").await?;
    let before = stage.bed.audit().mark()?;
    operator.process().resume()?;

    stage.bed.wait_until_gone("q1", "pod-1").await?;
    used(stage, "q1", "cpu 3, memory 2Gi").await?;
    stage.until_shares("shares are as they were", shares).await?;
    stage.until_pods("q1", PodCounts::running(2)).await?;
    stage.until_pods("q2", PodCounts::running(3)).await?;
    let evicted: Vec<String> =
        evictions(&stage.bed.audit().events_since(before)?).map(|e| e.name.clone()).collect();
    assert_eq!(evicted, ["pod-1"]);
    Ok(())
}

async fn lift_quota(stage: &Stage, namespace: &str, cpu: &str) -> anyhow::Result<()> {
    let quotas: Api<ResourceQuota> = Api::namespaced(stage.bed.client(), namespace);
    let patch = json!({"spec": {"hard": {"requests.cpu": cpu}}});
    quotas.patch("quotient", &PatchParams::default(), &Patch::Merge(patch)).await?;
    stage.until_allowed(namespace, &format!("cpu {cpu}, memory 9Gi")).await
}

async fn used(stage: &Stage, namespace: &str, expected: &str) -> anyhow::Result<()> {
    until_is(format!("{namespace} is seen to use {expected}"), expected, async || {
        Ok(queue(&stage.bed, namespace, namespace).await?.used.to_string())
    })
    .await
}

fn evictions(events: &[AuditEvent]) -> impl Iterator<Item = &AuditEvent> {
    events.iter().filter(|event| event.is_about("pods/eviction") && event.succeeded())
}

/// `hard` of a quota as an answered request left it, in its status or its spec.
fn hard(event: &AuditEvent, part: &str) -> anyhow::Result<Amounts> {
    let hard = event.response.as_ref().and_then(|quota| quota.get(part)?.get("hard")).cloned();
    quota_amounts(&serde_json::from_value(hard.unwrap_or_else(|| json!({})))?)
}

/// No eviction in a namespace before its lowered quota was seen in status.hard.
fn assert_evictions_wait_for_the_quota(events: &[AuditEvent]) -> anyhow::Result<()> {
    let mut seen = 0;
    for eviction in evictions(events) {
        let lowered = events
            .iter()
            .filter(|event| event.is_about("resourcequotas/status") && event.succeeded())
            .filter(|event| event.namespace == eviction.namespace && event.answered <= eviction.received)
            .max_by_key(|event| event.answered)
            .with_context(|| format!("{}: evicted before any quota was in force", eviction.name))?;
        let allowed = hard(lowered, "status")?;
        let expected = if eviction.namespace == "q1" { "cpu 2, memory 6Gi" } else { "cpu 4, memory 12Gi" };
        assert_eq!(allowed.to_string(), expected, "{}: evicted under a quota not lowered yet", eviction.name);
        seen += 1;
    }
    assert_eq!(seen, 2, "one eviction in q1, one in q2");
    Ok(())
}

/// At every write of q3's quota, what it allows fits beside what the others still hold.
fn assert_nothing_grows_before_the_room_is_free(events: &[AuditEvent]) -> anyhow::Result<()> {
    // A pod holds its room until its kubelet reports that it has ended; that it is deleted then frees nothing more.
    let ended = |namespace: &str| -> Option<Timestamp> {
        let evicted = evictions(events).find(|event| event.namespace == namespace)?;
        let reports = events.iter().filter(|event| event.is_about("pods/status") && event.succeeded());
        reports
            .filter(|event| event.namespace == namespace && event.name == evicted.name)
            .map(|event| event.received)
            .filter(|received| *received >= evicted.received)
            .min()
    };
    let mut raises = 0;
    for write in events.iter().filter(|event| event.is_about("resourcequotas") && event.namespace == "q3") {
        if !write.is_write() || !write.succeeded() {
            continue;
        }
        let cpu = hard(write, "spec")?.get(&Resource::Cpu).units();
        let held: i128 = [("q1", 2_000), ("q2", 4_000)]
            .into_iter()
            .map(|(namespace, share)| {
                let has_ended = ended(namespace).is_some_and(|ended| ended <= write.received);
                if has_ended { share } else { share + 1_000 }
            })
            .sum();
        assert!(cpu + held <= 9_000, "q3 was allowed {cpu}m while {held}m were held");
        raises += 1;
    }
    assert!(raises >= 2, "1 cpu at first, 3 in the end");
    Ok(())
}
