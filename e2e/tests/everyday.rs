//! What happens every day: an idle cluster, a workload whose pods never start.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Resource as _;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{PodCounts, Stage};
use quotient_e2e::testbed::{annotations, objects, until_is};
use serde_json::json;

/// For how long no pod may be evicted that the operator would evict within a second.
const A_WHILE: Duration = Duration::from_secs(8);

/// Longer than a pod with room may be not Ready before that is evidence against its workload.
const EVIDENCE: Duration = Duration::from_secs(14);

/// When nothing was written for so long, quotas and statuses agree.
const QUIET: Duration = Duration::from_secs(2);

/// No pod of it existed before, and no list of kinds names its controller: the quota lets it in at the first try.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_cluster_starts_a_notebook_a_bare_pod_and_pods_of_unknown_controllers_at_once() -> Result<()>
{
    let stage = Stage::set(&[]).await?;
    let room = [("cpu", "32"), ("memory", "128Gi"), ("nvidia.com/gpu", "8")];
    stage.bed.add_node("node-1", &room).await?;
    let operator = stage.start_operator().await?;
    stage.queue("lab", json!({})).await?;
    stage.queue("others", json!({})).await?;
    stage.until_condition("lab", ConditionType::QuotaSynced, ("True", "Synced")).await?;

    let maps = stage.api::<ConfigMap>("lab");
    let map = serde_json::from_value(json!({"metadata": {"name": "cluster"}}))?;
    let map = maps.create(&PostParams::default(), &map).await?;
    let owner = map.controller_owner_ref(&()).context("the ConfigMap has no uid")?;
    let pods = stage.api::<Pod>("lab");
    let requests = [
        ("notebook", json!({"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "8"}), None),
        ("head", objects::one_cpu(), Some(&owner)),
        ("worker", objects::one_cpu(), Some(&owner)),
        ("bare", objects::one_cpu(), None),
    ];
    for (name, requests, owner) in requests {
        let devices = requests.get("nvidia.com/gpu").map(|devices| json!({"nvidia.com/gpu": devices}));
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": name, "ownerReferences": owner.into_iter().collect::<Vec<_>>()},
            "spec": {
                "terminationGracePeriodSeconds": 0,
                "containers": [{
                    "name": "main",
                    "image": "main",
                    "resources": {"requests": requests, "limits": devices.unwrap_or(json!({}))},
                }],
            },
        }))?;
        // The window doubles once its queue has used more than half of it; no pod waits for more than that.
        let created = std::time::Instant::now();
        while let Err(refused) = pods.create(&PostParams::default(), &pod).await {
            ensure!(created.elapsed() < Duration::from_secs(3), "{name}: {refused}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        println!("{name} was let in after {} ms", created.elapsed().as_millis());
    }
    stage.until_pods("lab", PodCounts::running(4)).await?;
    stage.until_quiet_for(QUIET).await?;
    stage.end(operator).await
}

/// The cluster has 10 cpu, of which a neighbor uses 8. A Deployment whose two pods never start may lack 48 more: it takes one at
/// a time, and so does the next revision.
#[tokio::test(flavor = "multi_thread")]
async fn a_workload_whose_pods_never_start_takes_one_pod_of_a_neighbor() -> Result<()> {
    let stage = Stage::set(&[("node-1", "10", "40Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.queue("neighbor", json!({})).await?;
    stage.queue("broken", json!({})).await?;
    stage.deployment("neighbor", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("neighbor", PodCounts::running(8)).await?;

    let before = stage.bed.audit().mark()?;
    let mut never_starts = objects::workload("Deployment", "broken", "web", 2, &objects::one_cpu());
    never_starts["spec"]["template"]["metadata"]["annotations"] = json!({annotations::HOLD_START: "true"});
    stage.apply(&never_starts).await?;
    let deployments = stage.api::<Deployment>("broken");
    let two = PodCounts { pending: 2, ..PodCounts::default() };
    stage.until_pods("broken", two).await?;
    // Evidence begins when a pod has its node.
    let pods = stage.api::<Pod>("broken");
    until_is("both pods have a node", 2, async || {
        let pods = pods.list(&ListParams::default()).await?.items;
        let bound = pods.iter().filter(|pod| pod.spec.as_ref().is_some_and(|spec| spec.node_name.is_some()));
        Ok(bound.count())
    })
    .await?;
    tokio::time::sleep(EVIDENCE).await;
    stage.bed.kubectl(["scale", "deployment/web", "--replicas=50", "--namespace=broken"]).await?;
    tokio::time::sleep(A_WHILE).await;
    let evicted = stage.evicted(before)?;
    ensure!(evicted.len() <= 1, "{evicted:?}");

    let redeployed =
        Patch::Merge(json!({"spec": {"template": {"metadata": {"annotations": {"revision": "2"}}}}}));
    deployments.patch("web", &PatchParams::default(), &redeployed).await?;
    tokio::time::sleep(A_WHILE).await;
    let evicted = stage.evicted(before)?;
    ensure!(evicted.len() <= 2, "{evicted:?}");
    ensure!(evicted.iter().all(|pod| pod.contains("neighbor")), "{evicted:?}");
    let left = stage.pod_counts("neighbor").await?.running;
    ensure!(left >= 6, "{left} pods of the neighbor are left");
    stage.until_quiet_for(QUIET).await?;
    stage.end(operator).await
}
