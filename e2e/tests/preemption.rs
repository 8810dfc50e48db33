//! S-PREEMPT on a real control plane: every intermediate state, and rest at the end. The order of writes is judged at the end
//! of the stage: no eviction before the lower quota is enforced, and no raise before its room is free.

use std::time::Duration;

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::api::{Patch, PatchParams};
use quotient_e2e::quotient::{Newcomer, Operator, PodCounts, Stage, queue, writes_of_operator};
use quotient_e2e::testbed::until_is;
use serde_json::json;

/// S-PREEMPT §Preemption stage: Queue-3 joins, Queue-1 and Queue-2 give one cpu each. Then §Preprocess stage.
#[tokio::test(flavor = "multi_thread")]
async fn a_third_queue_joins_and_an_overused_queue_is_brought_back() -> anyhow::Result<()> {
    let stage = Stage::set(&Newcomer::NODES).await?;
    let operator = stage.start_operator().await?;
    // Terminating pods stay until they are released, so that the state in between can be looked at.
    Newcomer::prepare(&stage, true).await?;

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
    rests_for_a_minute(&stage).await?;
    a_queue_that_a_race_overfilled_is_brought_back(&stage, &operator).await?;
    a_pod_above_the_quota_waits_for_a_larger_share(&stage).await?;
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
    assert_eq!(stage.evicted(before)?, ["q1/pod-1".to_owned()].into());
    Ok(())
}

/// The quota refuses what is above the share, by a name that names its source; a larger share lets the pod in.
async fn a_pod_above_the_quota_waits_for_a_larger_share(stage: &Stage) -> anyhow::Result<()> {
    for namespace in ["q1", "q2"] {
        stage.clear(namespace).await?;
    }
    let size = [("cpu", "4"), ("memory", "1Gi")];
    let refused = stage.bed.create_pod("q1", "big", &size).await.unwrap_err();
    assert!(refused.to_string().contains("exceeded quota: quotient"), "{refused}");
    stage.patch_queue("q1", "q1", json!({"weight": 8})).await?;
    stage.until_allowed("q1", "cpu 6, memory 18Gi").await?;
    stage.bed.create_pod("q1", "big", &size).await?;
    stage.bed.wait_until_running("q1", "big").await.map(drop)
}

async fn lift_quota(stage: &Stage, namespace: &str, cpu: &str) -> anyhow::Result<()> {
    let quotas = stage.api::<ResourceQuota>(namespace);
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
