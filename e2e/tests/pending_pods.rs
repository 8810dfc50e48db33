//! Pending pods on a real control plane: which pods are spared, which get no room, and how soon a rejected owner has its pods.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use k8s_openapi::api::core::v1::Node;
use kube::Api;
use kube::api::{Patch, PatchParams};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::{AuditEvent, eventually, objects};
use serde_json::json;

/// For how long nothing has to happen that would take the operator a fraction of a second.
const A_WHILE: Duration = Duration::from_secs(8);

#[tokio::test(flavor = "multi_thread")]
async fn the_last_replica_is_kept_and_a_refused_owner_told_of_room() -> anyhow::Result<()> {
    let stage = Stage::set(&[("node-1", "4", "8Gi")]).await?;
    let operator = stage.start_operator().await?;
    the_last_replica_is_kept(&stage).await?;
    for team in ["a", "b"] {
        stage.remove_queue(team).await?;
    }
    stage.bed.add_node("node-2", &[("cpu", "4"), ("memory", "8Gi")]).await?;
    a_refused_owner_starts_soon_after_its_quota_rises(&stage).await?;
    stage.end(operator).await
}

/// `lastReplica: Never`: another pod goes first; when only last ones are left, no pod is evicted, and nothing is promised.
async fn the_last_replica_is_kept(stage: &Stage) -> anyhow::Result<()> {
    stage.claim("a", json!({"eviction": {"lastReplica": "Never"}})).await?;
    stage.until_allowed("a", "cpu 4, memory 8Gi").await?;
    // By its size, and being one pod instead of two, the single one would be the first to go.
    stage.deployment("a", "pair", 2, objects::one_cpu(), false).await?;
    stage.until_pods("a", PodCounts::running(2)).await?;
    stage.deployment("a", "single", 1, json!({"cpu": "2", "memory": "1Gi"}), false).await?;
    stage.until_pods("a", PodCounts::running(3)).await?;

    let before = stage.bed.audit().mark()?;
    stage.claim("b", json!({})).await?;
    let shares = "
        a/a: deserved cpu 2, memory 4Gi; allocated cpu 2, memory 4Gi; preempting nothing
        b/b: deserved cpu 2, memory 4Gi; allocated cpu 1, memory 4Gi; preempting nothing";
    stage.until_shares("b has what may be taken for it", shares).await?;
    stage.until_pods("a", PodCounts::running(2)).await?;
    tokio::time::sleep(A_WHILE).await;
    stage.until_shares("it stays like that", shares).await?;
    stage.until_pods("a", PodCounts::running(2)).await?;
    let evicted = stage.evicted(before)?;
    assert!(evicted.len() == 1 && evicted.iter().all(|pod| pod.starts_with("a/pair-")), "{evicted:?}");
    Ok(())
}

/// All cpus are in use. No pod is evicted for pods that no node could run, whether a quota rejects them or they were there before
/// their namespace had a Queue. No pod is evicted for a Queue without work, whatever it is guaranteed, nor for one that requests
/// devices alone. Once a node could run a pod, that pod gets its room.
#[tokio::test(flavor = "multi_thread")]
async fn no_pod_is_evicted_for_what_no_node_could_run_or_lacks_no_cpu() -> anyhow::Result<()> {
    let stage = Stage::set(&["node-1", "node-2", "node-3"].map(|name| (name, "2", "8Gi"))).await?;
    let devices = [("cpu", "2"), ("memory", "8Gi"), ("nvidia.com/gpu", "8")];
    stage.bed.add_node("node-4", &devices).await?;
    let operator = stage.start_operator().await?;
    stage.claim("a", json!({})).await?;
    stage.until_allowed("a", "cpu 8, memory 32Gi, nvidia.com/gpu 8").await?;
    stage.deployment("a", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("a", PodCounts::running(8)).await?;
    stage.bed.create_namespace("early").await?;
    selecting(&stage, "early", "lost", "2", "mars").await?;
    stage.until_pods("early", PodCounts { pending: 1, ..PodCounts::default() }).await?;

    let before = stage.bed.audit().mark()?;
    stage.queue("b", json!({})).await?;
    stage.queue("c", json!({"weight": 2})).await?;
    // Before their quotas are there, nothing would refuse the pods.
    stage.until_allowed("b", "nothing").await?;
    stage.until_allowed("c", "nothing").await?;
    selecting(&stage, "b", "lost", "2", "moon").await?;
    stage.deployment("c", "huge", 1, json!({"cpu": "3", "memory": "1Gi"}), false).await?;
    stage.queue_object("early", "early", json!({})).await?;
    stage.queue("empty", json!({"weight": 7, "guaranteed": {"cpu": "4"}})).await?;
    stage.queue("devices", json!({"request": {"nvidia.com/gpu": "4"}})).await?;
    for namespace in ["early", "empty", "devices"] {
        stage.until_condition(namespace, ConditionType::QuotaSynced, ("True", "Synced")).await?;
    }
    let no_node_fits = [("b", "ReplicaSet lost-"), ("c", "ReplicaSet huge-")];
    for (namespace, owner) in no_node_fits {
        until_no_node_fits(&stage, namespace, owner).await?;
    }
    tokio::time::sleep(A_WHILE).await;
    for (namespace, owner) in no_node_fits {
        until_no_node_fits(&stage, namespace, owner).await?;
    }
    ensure!(stage.evicted(before)?.is_empty(), "{:?}", stage.evicted(before)?);
    stage.until_pods("a", PodCounts::running(8)).await?;

    // A pod that exists holds its room until it was unschedulable for a minute.
    stage.bed.kubectl(["delete", "deployment/lost", "--namespace=early"]).await?;
    stage.until_pods("early", PodCounts::default()).await?;
    // No pod was evicted because of the nodes alone.
    let nodes: Api<Node> = Api::all(stage.bed.client());
    let label = json!({"metadata": {"labels": {"zone": "moon"}}});
    nodes.patch("node-2", &PatchParams::default(), &Patch::Merge(label)).await?;
    stage.until_pods("b", PodCounts::running(1)).await?;
    stage.until_pods("a", PodCounts::running(6)).await?;
    assert_eq!(stage.evicted(before)?.len(), 2);
    // Quotas and statuses agree.
    stage.until_quiet_for(Duration::from_secs(2)).await?;
    stage.end(operator).await
}

/// An owner that was refused for so long that it would try again in ten seconds only is told that there is room.
async fn a_refused_owner_starts_soon_after_its_quota_rises(stage: &Stage) -> anyhow::Result<()> {
    let request = |cpu: &str| {
        let amounts = json!({"cpu": cpu, "memory": "8Gi"});
        json!({"request": amounts, "limit": amounts})
    };
    stage.queue("late", request("1")).await?;
    stage.until_allowed("late", "cpu 1, memory 8Gi").await?;
    stage.deployment("late", "web", 6, objects::one_cpu(), false).await?;
    stage.until_pods("late", PodCounts::running(1)).await?;
    // A ReplicaSet's n-th try comes 5 ms times 2^n after the last: at 10 s and at 20 s.
    tokio::time::sleep(Duration::from_secs(13)).await;

    let before = stage.bed.audit().mark()?;
    stage.patch_queue("late", "late", request("6")).await?;
    stage.until_pods("late", PodCounts::running(6)).await?;
    let events = stage.bed.audit().events_since(before)?;
    let created: Vec<&AuditEvent> = succeeded(&events, "create", "pods").collect();
    assert_eq!(created.len(), 5, "{created:#?}");
    let asked = succeeded(&events, "patch", "queues").next().context("no patch of the Queue")?;
    let last = created.iter().map(|event| event.answered).max().context("no pod was created")?;
    let taken = last.duration_since(asked.received);
    println!("all pods were created {} ms after the Queue's request rose", taken.as_millis());
    assert!(taken.as_millis() < 3_000, "it took {taken:#}");
    let requeues = succeeded(&events, "patch", "replicasets").count();
    assert!(requeues >= 1, "it was not the requeue");
    Ok(())
}

/// Waits until a queue says that no node could run what it lacks, as a whole and for the owner whose name begins so.
async fn until_no_node_fits(stage: &Stage, namespace: &str, owner: &str) -> anyhow::Result<()> {
    eventually(format!("{namespace} is told that no node fits"), PATIENCE, async || {
        let unmet = stage.queue_status(namespace).await?.unmet;
        let is_reported =
            matches!(&*unmet, [one] if format!("{} {}", one.kind, one.name).starts_with(owner) && one.reason == "NoNodeFits" && one.pods == 1);
        ensure!(is_reported, "{unmet:?}");
        Ok(())
    })
    .await
}

/// A Deployment of one pod that runs only on nodes of a zone.
async fn selecting(stage: &Stage, namespace: &str, name: &str, cpu: &str, zone: &str) -> anyhow::Result<()> {
    let requests = json!({"cpu": cpu, "memory": "1Gi"});
    let deployment = objects::workload("Deployment", namespace, name, 1, &requests);
    stage.apply(&objects::pods_with(deployment, "nodeSelector", json!({"zone": zone}))).await
}

fn succeeded<'a>(
    events: &'a [AuditEvent],
    verb: &'a str,
    resource: &'a str,
) -> impl Iterator<Item = &'a AuditEvent> {
    events.iter().filter(move |event| event.verb == verb && event.is_about(resource) && event.succeeded())
}
