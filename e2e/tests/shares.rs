//! Shares on a real control plane: Queues in, ResourceQuotas out.

use quotient_e2e::quotient::{Stage, quotas};
use serde_json::json;

/// S-QUEUE §Proportion Policy: 9 cpu and 27Gi, weights 2 and 4. The quota refuses what is above the share, by a name that names
/// its source; a larger share lets the pod in.
#[tokio::test(flavor = "multi_thread")]
async fn two_queues_share_by_weight() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "6", "15Gi"), ("node-2", "3", "12Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("q1", json!({"weight": 2, "request": {"cpu": "5", "memory": "10Gi"}})).await?;
    stage.queue("q2", json!({"weight": 4, "request": {"cpu": "10", "memory": "20Gi"}})).await?;
    stage
        .until_shares(
            "S-QUEUE's shares are there",
            "q1/q1: deserved cpu 3, memory 9Gi; allocated cpu 3, memory 9Gi; preempting nothing
             q2/q2: deserved cpu 6, memory 18Gi; allocated cpu 6, memory 18Gi; preempting nothing",
        )
        .await?;
    let quotas = quotas(&stage.bed).await?;
    assert_eq!(quotas["q1"].to_string(), "cpu 3, memory 9Gi");
    assert_eq!(quotas["q2"].to_string(), "cpu 6, memory 18Gi");

    stage.until_allowed("q1", "cpu 3, memory 9Gi").await?;
    let size = [("cpu", "4"), ("memory", "1Gi")];
    let refused = stage.bed.create_pod("q1", "big", &size).await.unwrap_err();
    assert!(refused.to_string().contains("exceeded quota: quotient"), "{refused}");
    stage.patch_queue("q1", "q1", json!({"weight": 8})).await?;
    stage.until_allowed("q1", "cpu 5, memory 10Gi").await?;
    stage.bed.create_pod("q1", "big", &size).await?;
    stage.bed.wait_until_running("q1", "big").await?;
    stage.end(operator).await
}
