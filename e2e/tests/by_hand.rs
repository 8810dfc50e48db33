//! Pods that name their node themselves: no scheduler looks at them, and quotas count them as all others.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{eventually, objects};
use serde_json::json;

async fn by_hand(stage: &Stage, name: &str, node: &str) -> kube::Result<Pod> {
    let mut pod = objects::pod("hands", name, &[("cpu", "1"), ("memory", "1Gi")]);
    pod.spec.get_or_insert_default().node_name = Some(node.to_owned());
    Api::namespaced(stage.bed.client(), "hands").create(&PostParams::default(), &pod).await
}

/// One team puts its pods onto a node that is there, onto one that is cordoned and onto one that does not exist. The other team
/// gets its half all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_name_set_by_hand_takes_no_share_of_others() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "8Gi"), ("node-2", "2", "2Gi")]).await?;
    let nodes: Api<Node> = Api::all(stage.bed.client());
    let cordon = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    nodes.patch("node-2", &PatchParams::default(), &cordon).await?;
    let operator = stage.start_operator().await?;
    stage.claim("hands", json!({"weight": 1})).await?;
    stage.until_allowed("hands", "cpu 8, memory 8Gi").await?;
    by_hand(&stage, "nowhere", "nowhere").await?;
    by_hand(&stage, "cordoned", "node-2").await?;
    // Pods on nodes that do not count use none of the capacity, so the quota lets in as many more.
    stage.until_allowed("hands", "cpu 10, memory 10Gi").await?;
    for number in 0..8 {
        by_hand(&stage, &format!("pod-{number}"), "node-1").await?;
    }
    let refused = by_hand(&stage, "one-more", "node-1").await;
    ensure!(matches!(&refused, Err(kube::Error::Api(status)) if status.code == 403), "{refused:?}");

    stage.claim("others", json!({"weight": 1})).await?;
    stage.deployment("others", "web", 4, objects::one_cpu(), false).await?;
    stage.until_pods("others", PodCounts::running(4)).await?;
    eventually("no more of node-1 is used than it has", PATIENCE, async || {
        let mut used: BTreeMap<String, usize> = BTreeMap::new();
        for namespace in ["hands", "others"] {
            for pod in stage.pods(namespace).await? {
                *used.entry(pod.spec.and_then(|spec| spec.node_name).unwrap_or_default()).or_default() += 1;
            }
        }
        ensure!(used.get("node-1").is_some_and(|pods| *pods <= 8), "{used:?}");
        Ok(())
    })
    .await?;
    // The status of `others` follows its quota.
    stage.until_quiet_for(Duration::from_secs(2)).await?;
    stage.end(operator).await
}
