//! A second quota in the namespace, pods that are created at the same time, and quotas that are counted anew meanwhile:
//! admission may let in more than the quota says (kubernetes#141904).

use std::time::Duration;

use anyhow::{Result, ensure};
use futures::stream::{self, StreamExt as _};
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::Api;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use quotient_e2e::quotient::{PodCounts, Stage};
use quotient_e2e::testbed::{Options, objects, until_is};
use serde_json::json;

/// How often all pods are created at the same time.
const ROUNDS: usize = 12;

/// How many pods are created in each round, of which half fit.
const PODS: usize = 32;

/// How many of the pods of one round were let in, where another writer writes the second quota all the time.
async fn round(stage: &Stage, number: usize) -> Result<usize> {
    let client = stage.bed.client();
    let pods: Api<Pod> = Api::namespaced(client.clone(), "crowd");
    let theirs: Api<ResourceQuota> = Api::namespaced(client, "crowd");
    let create = async |at: usize| {
        let pod =
            objects::pod("crowd", &format!("pod-{number}-{at}"), &[("cpu", "500m"), ("memory", "512Mi")]);
        pods.create(&PostParams::default(), &pod).await.is_ok()
    };
    let disturb = async {
        for again in 0.. {
            let label = json!({"metadata": {"labels": {"again": format!("{again}")}}});
            theirs.patch("theirs", &PatchParams::default(), &Patch::Merge(label)).await.ok();
        }
    };
    let creations = stream::iter(0..PODS)
        .map(create)
        .buffer_unordered(PODS)
        .filter(|let_in| std::future::ready(*let_in))
        .count();
    Ok(tokio::select! {
        admitted = creations => admitted,
        () = disturb => 0,
    })
}

/// What is too much is used up by its own queue, and the other queue has its half whatever happens.
#[tokio::test(flavor = "multi_thread")]
async fn pods_that_two_quotas_admit_at_the_same_time_cost_no_other_queue_a_pod() -> Result<()> {
    let options = Options { recounts: Some(Duration::from_secs(1)), ..Options::default() };
    let stage = Stage::set_on(options, &[("node-1", "16", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    for namespace in ["crowd", "others"] {
        stage.claim(namespace, json!({"weight": 1})).await?;
    }
    stage.bed.create_quota("crowd", "theirs", &[("pods", "1000")]).await?;
    for namespace in ["crowd", "others"] {
        stage.until_allowed(namespace, "cpu 8, memory 8Gi").await?;
    }
    stage.deployment("others", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("others", PodCounts::running(8)).await?;
    let mark = stage.bed.audit().mark()?;

    let fit = 16;
    let mut most = 0;
    let pods = stage.api::<Pod>("crowd");
    for number in 0..ROUNDS {
        most = most.max(round(&stage, number).await?);
        stage.until_pods("others", PodCounts::running(8)).await?;
        pods.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        until_is("they are gone", 0, async || Ok(stage.pods("crowd").await?.len())).await?;
    }
    println!("at most {most} of {PODS} pods were let in at once, and {fit} fit");
    let evicted = stage.evicted(mark)?;
    ensure!(!evicted.iter().any(|pod| pod.starts_with("others/")), "{evicted:?}");
    stage.end(operator).await
}
