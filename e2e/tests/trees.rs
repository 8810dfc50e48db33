//! Parent queues on a real control plane: a guarantee that comes back, a fence, and queues that no parent accepts.

use std::time::Duration;

use anyhow::ensure;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage, queue, writes_of_operator};
use quotient_e2e::testbed::eventually;
use serde_json::json;

/// What a department is guaranteed is lent while its teams do not ask, and comes back when they do.
#[tokio::test(flavor = "multi_thread")]
async fn a_guarantee_comes_back() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    let accepting =
        json!({"children": {"namespaces": {"from": "All"}}, "guaranteed": {"cpu": "4", "memory": "4Gi"}});
    stage.queue("org", accepting).await?;
    let below = json!({"namespace": "org", "name": "org"});
    stage.queue("team", json!({"parentRef": below, "request": {"cpu": "0", "memory": "4Gi"}})).await?;
    stage.claim("other", json!({"weight": 7})).await?;
    stage
        .until_shares(
            "what the team does not ask for is lent",
            "org/org: deserved memory 4Gi; allocated memory 4Gi; preempting nothing
             other/other: deserved cpu 8, memory 12Gi; allocated cpu 8, memory 12Gi; preempting nothing
             team/team: deserved memory 4Gi; allocated memory 4Gi; preempting nothing",
        )
        .await?;
    stage.deployment("other", "web", 8, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("other", PodCounts::running(8)).await?;

    stage.patch_queue("team", "team", json!({"request": {"cpu": "4"}})).await?;
    stage
        .until_shares(
            "the team has what its department is guaranteed",
            "org/org: deserved cpu 4, memory 4Gi; allocated cpu 4, memory 4Gi; preempting nothing
             other/other: deserved cpu 4, memory 12Gi; allocated cpu 4, memory 12Gi; preempting nothing
             team/team: deserved cpu 4, memory 4Gi; allocated cpu 4, memory 4Gi; preempting nothing",
        )
        .await?;
    stage.until_pods("other", PodCounts::running(4)).await?;
    stage.deployment("team", "back", 4, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.until_pods("team", PodCounts::running(4)).await?;
    stage.end(operator).await
}

/// Queues below a fence take nothing from outside of it; the one that is short says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_fence_keeps_its_queues_from_taking_outside() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "9", "36Gi")]).await?;
    let operator = stage.start_operator().await?;
    let fence =
        json!({"weight": 2, "children": {"namespaces": {"from": "All"}}, "reclaim": {"from": "Subtree"}});
    stage.queue("org", fence).await?;
    let below = json!({"namespace": "org", "name": "org"});
    stage
        .queue(
            "b",
            json!({"parentRef": below, "request": {"cpu": "3", "memory": "9Gi"},
        "limit": {"cpu": "3", "memory": "9Gi"}}),
        )
        .await?;
    stage
        .queue(
            "c",
            json!({"weight": 1, "request": {"cpu": "6", "memory": "9Gi"},
        "limit": {"cpu": "6", "memory": "9Gi"}}),
        )
        .await?;
    stage
        .until_shares(
            "every queue has what it asks for",
            "b/b: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing
             c/c: deserved cpu 6, memory 9Gi; allocated cpu 6, memory 9Gi; preempting nothing
             org/org: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing",
        )
        .await?;
    stage.deployment("b", "web", 3, json!({"cpu": "1", "memory": "1Gi"}), false).await?;
    stage.deployment("c", "web", 2, json!({"cpu": "3", "memory": "1Gi"}), false).await?;
    stage.until_pods("b", PodCounts::running(3)).await?;
    stage.until_pods("c", PodCounts::running(2)).await?;

    stage
        .queue(
            "a",
            json!({"parentRef": below, "request": {"cpu": "3", "memory": "9Gi"},
        "limit": {"cpu": "3", "memory": "9Gi"}}),
        )
        .await?;
    eventually("a is starved behind its fence, and c deserves less", PATIENCE, async || {
        let outside = queue(&stage.bed, "c", "c").await?.deserved.to_string();
        ensure!(outside == "cpu 3, memory 9Gi", "{outside}");
        let view = queue(&stage.bed, "a", "a").await?;
        let starved = view.conditions.get("Starved").map(String::as_str);
        // Nothing is being freed for it.
        ensure!(starved == Some("Fenced") && view.preempting.is_empty(), "{view:?}");
        Ok(())
    })
    .await?;
    a_queue_that_its_parent_does_not_accept_says_so(&stage).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    stage.until_pods("b", PodCounts::running(3)).await?;
    stage.until_pods("c", PodCounts::running(2)).await?;
    let evictions = writes_of_operator(&stage.bed.audit().events()?);
    assert!(evictions.iter().all(|write| write.resource != "pods/eviction"), "{evictions:#?}");
    stage.end(operator).await
}

/// A reference that leads nowhere stalls its own queue and no other.
async fn a_queue_that_its_parent_does_not_accept_says_so(stage: &Stage) -> anyhow::Result<()> {
    let before = queue(&stage.bed, "c", "c").await?.deserved;
    stage.queue("closed", json!({"children": {"namespaces": {"from": "Same"}}})).await?;
    stage.claim("refused", json!({"parentRef": {"namespace": "closed", "name": "closed"}})).await?;
    stage.claim("lost", json!({"parentRef": {"namespace": "closed", "name": "nobody"}})).await?;
    for (namespace, reason) in [("refused", "ParentNotAccepting"), ("lost", "ParentNotFound")] {
        eventually(format!("{namespace} is stalled"), PATIENCE, async || {
            let view = queue(&stage.bed, namespace, namespace).await?;
            ensure!(view.conditions.get("Stalled").map(String::as_str) == Some(reason), "{view:?}");
            Ok(())
        })
        .await?;
    }
    assert_eq!(queue(&stage.bed, "c", "c").await?.deserved, before);
    Ok(())
}
