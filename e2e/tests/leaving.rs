//! Leaving: Queues, namespaces and kinds are deleted in the middle of everything, with the operator up, down or killed. What
//! Quotient keeps for a Queue goes with it, and nothing else changes.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{LimitRange, Pod, ResourceQuota};
use kube::api::{DeleteParams, EvictParams, PostParams};
use kube::{Api, ResourceExt as _};
use quotient_crds::Queue;
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, SHORT_LEASE, Stage};
use quotient_e2e::testbed::{TestBed, eventually, objects};
use serde_json::{Value, json};

use crate::intra_queue::leaving_commands;

/// The namespaces: one rolls out, one is drained, in one a workload yields to another of a higher priority, and one gives pods to
/// the last one.
const TEAMS: [&str; 5] = ["rolls", "drains", "yields", "gives", "comes"];

/// Waits until nothing of Quotient is in a namespace.
async fn until_unmanaged(stage: &Stage, namespace: &str) -> Result<()> {
    eventually(format!("nothing is left in {namespace}"), PATIENCE, async || {
        ensure!(
            stage.api::<ResourceQuota>(namespace).get_opt("quotient").await?.is_none(),
            "the quota is there"
        );
        ensure!(
            stage.api::<LimitRange>(namespace).get_opt("quotient").await?.is_none(),
            "the LimitRange is there"
        );
        Ok(())
    })
    .await
}

/// Nothing is refused in a namespace that no Queue governs, nor given default requests.
async fn nothing_is_refused(bed: &TestBed, namespace: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(bed.client(), namespace);
    // Admission forgets a quota a moment after it is gone.
    eventually(format!("a large pod is admitted to {namespace}"), PATIENCE, async || {
        bed.create_pod(namespace, "large", &[("cpu", "100"), ("memory", "1Gi")]).await
    })
    .await?;
    let modest: Pod = serde_json::from_value(json!({
        "metadata": {"name": "modest"},
        "spec": {"terminationGracePeriodSeconds": 0, "containers": [{"name": "main", "image": "main"}]},
    }))?;
    // Nor does admission forget a LimitRange at once.
    eventually(format!("a pod without requests is left as it is in {namespace}"), PATIENCE, async || {
        let admitted = pods.create(&PostParams { dry_run: true, ..PostParams::default() }, &modest).await?;
        let container =
            admitted.spec.and_then(|spec| spec.containers.into_iter().next()).context("no container")?;
        ensure!(container.resources.unwrap_or_default().requests.is_none(), "it was given requests");
        Ok(())
    })
    .await?;
    pods.delete("large", &DeleteParams::default().grace_period(0)).await?;
    Ok(())
}

/// A preemption inside a queue, which waits for pods that terminate.
async fn preemption(stage: &Stage) -> Result<()> {
    let queue = json!({"guaranteed": {"cpu": "4"}, "limit": {"cpu": "4"}, "preemption": "LowerPriority"});
    stage.claim("yields", queue).await?;
    stage.until_allowed("yields", "cpu 4, memory 72Gi").await?;
    stage.deployment("yields", "low", 4, objects::one_cpu(), true).await?;
    stage.until_pods("yields", PodCounts::running(4)).await?;
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9, \
                 preemptionPolicy: Never}";
    stage.bed.apply(class).await?;
    let high = objects::workload("Deployment", "yields", "high", 2, &objects::one_cpu());
    stage.apply(&objects::pods_with(high, "priorityClassName", "high")).await?;
    let leaving = PodCounts { running: 2, terminating: 2, pending: 0 };
    stage.until_pods("yields", leaving).await
}

/// A rollout, a drain and two preemptions, each of which waits for pods that terminate.
async fn in_the_middle(stage: &Stage) -> Result<()> {
    let bed = &stage.bed;
    preemption(stage).await?;
    let fixed = json!({
        "guaranteed": {"cpu": "4"}, "limit": {"cpu": "4"}, "defaultRequests": {"cpu": "100m", "memory": "128Mi"},
    });
    for team in ["rolls", "drains"] {
        stage.queue(team, fixed.clone()).await?;
    }
    stage.claim("gives", json!({"defaultRequests": {"cpu": "100m"}})).await?;
    for team in ["rolls", "drains", "gives"] {
        let pods = if team == "gives" { 8 } else { 4 };
        stage.deployment(team, "web", pods, objects::one_cpu(), true).await?;
        stage.until_pods(team, PodCounts::running(pods)).await?;
    }
    stage.claim("comes", json!({})).await?;
    stage.deployment("comes", "web", 2, objects::one_cpu(), true).await?;
    let leaving = PodCounts { running: 6, terminating: 2, pending: 0 };
    stage.until_pods("gives", leaving).await?;

    let restart = r#"-p={"spec":{"template":{"metadata":{"labels":{"version":"2"}}}}}"#;
    bed.kubectl(["patch", "deployment/web", "--namespace=rolls", restart]).await?;
    let pods = stage.api::<Pod>("drains");
    for pod in stage.pods("drains").await?.into_iter().take(2) {
        pods.evict(&pod.name_any(), &EvictParams::default()).await?;
    }
    eventually("both wait for pods that terminate", PATIENCE, async || {
        for team in ["rolls", "drains"] {
            let counts = stage.pod_counts(team).await?;
            ensure!(counts.terminating > 0, "{team}: {counts:?}");
        }
        Ok(())
    })
    .await
}

async fn delete_all_queues(stage: &Stage) -> Result<()> {
    for team in TEAMS {
        stage.api::<Queue>(team).delete(team, &DeleteParams::default()).await?;
    }
    Ok(())
}

/// Whatever was in the middle comes to its end, as if there had never been a Queue. The size that was lowered has a command.
async fn everything_goes_on(stage: &Stage) -> Result<()> {
    let (_, restore) = leaving_commands()?;
    for team in TEAMS {
        until_unmanaged(stage, team).await?;
        nothing_is_refused(&stage.bed, team).await?;
    }
    eventually("every Deployment has its pods", PATIENCE, async || {
        for team in TEAMS {
            stage.release(team).await?;
        }
        stage.shell(&stage.bed.kubeconfig_path(), &restore).await?;
        for (team, pods) in [("rolls", 4), ("drains", 4), ("yields", 6), ("gives", 8), ("comes", 2)] {
            let counts = stage.pod_counts(team).await?;
            ensure!(counts == PodCounts::running(pods), "{team}: {counts:?}");
        }
        Ok(())
    })
    .await?;
    let new = stage.pods("rolls").await?;
    ensure!(new.iter().all(|pod| pod.labels().get("version").is_some_and(|version| version == "2")));
    for team in TEAMS {
        until_unmanaged(stage, team).await?;
    }
    Ok(())
}

async fn stage() -> Result<Stage> {
    Stage::set(&[("node-1", "8", "24Gi"), ("node-2", "8", "24Gi"), ("node-3", "8", "24Gi")]).await
}

async fn short_lived(stage: &Stage) -> Result<Operator> {
    Operator::start_with(&stage.bed, &stage.programs.operator, &SHORT_LEASE).await
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_operator_down() -> Result<()> {
    let stage = stage().await?;
    let operator = short_lived(&stage).await?;
    in_the_middle(&stage).await?;
    operator.stop().await?;
    let mark = stage.bed.audit().mark()?;
    delete_all_queues(&stage).await?;
    everything_goes_on(&stage).await?;
    // One that starts finds nothing to do.
    let operator = short_lived(&stage).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    everything_goes_on(&stage).await?;
    ensure!(stage.evicted(mark)?.is_empty(), "{:?}", stage.evicted(mark)?);
    stage.end(operator).await
}

/// Deleting the kind deletes every Queue, and with it every quota. No pod goes, and none is refused.
///
/// Garbage collection looks for new kinds every 30 s, and must have found this one before it is deleted.
#[tokio::test(flavor = "multi_thread")]
async fn deleting_the_kind_opens_every_namespace() -> Result<()> {
    let stage = stage().await?;
    let operator = stage.start_operator().await?;
    stage.claim("first", json!({})).await?;
    eventually("the first Queue has a quota", PATIENCE, async || {
        stage.api::<ResourceQuota>("first").get("quotient").await
    })
    .await?;
    stage.api::<Queue>("first").delete("first", &DeleteParams::default()).await?;
    until_unmanaged(&stage, "first").await?;
    in_the_middle(&stage).await?;
    let mark = stage.bed.audit().mark()?;
    stage.bed.kubectl(["delete", "crd", "queues.quotient.dev"]).await?;
    everything_goes_on(&stage).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    ensure!(stage.evicted(mark)?.is_empty(), "{:?}", stage.evicted(mark)?);
    operator.stop().await?;
    stage.bed.stop().await
}

/// A Queue beside another one is created again, orphaned, taken over and deleted, and no pod is evicted. Then the garbage
/// collector deletes a quota by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_queue_leaves_its_quota_to_its_successor_and_its_share_to_others() -> Result<()> {
    let stage = Stage::set(&[("node-1", "8", "16Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.claim("other", json!({})).await?;
    stage.queue("team", all_of_it()).await?;
    for (namespace, pods) in [("team", 4), ("other", 1)] {
        stage.until_allowed(namespace, "cpu 4, memory 8Gi").await?;
        stage.deployment(namespace, "web", pods, objects::one_cpu(), false).await?;
        stage.until_pods(namespace, PodCounts::running(pods)).await?;
    }
    let mark = stage.bed.audit().mark()?;
    a_queue_that_is_created_again_has_its_quota(&stage).await?;
    a_quota_that_is_orphaned_is_left_alone(&stage).await?;
    a_deleted_queue_opens_its_namespace(&stage).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    ensure!(stage.evicted(mark)?.is_empty(), "{:?}", stage.evicted(mark)?);
    operator.stop().await?;
    stage.promises_were_kept()?;
    the_garbage_collector_may_delete_a_quota(&stage).await?;
    stage.bed.stop().await
}

/// A spec that requests the whole cluster.
fn all_of_it() -> Value {
    json!({"request": {"cpu": "8", "memory": "16Gi"}})
}

/// The successor of a Queue owns its quota, whichever of operator and garbage collector is faster.
async fn a_queue_that_is_created_again_has_its_quota(stage: &Stage) -> Result<()> {
    for _ in 0..3 {
        stage.api::<Queue>("team").delete("team", &DeleteParams::default()).await?;
        stage.queue_object("team", "team", all_of_it()).await?;
        let uid = stage.api::<Queue>("team").get("team").await?.uid();
        eventually("quota and LimitRange are its own", PATIENCE, async || {
            let quota = stage.api::<ResourceQuota>("team").get("quotient").await?;
            let range = stage.api::<LimitRange>("team").get("quotient").await?;
            for owners in [quota.owner_references(), range.owner_references()] {
                let owners: Vec<&String> = owners.iter().map(|owner| &owner.uid).collect();
                ensure!(owners == uid.iter().collect::<Vec<_>>(), "{owners:?}");
            }
            Ok(())
        })
        .await?;
    }
    stage.until_allowed("team", "cpu 4, memory 8Gi").await?;
    stage.until_allowed("other", "cpu 4, memory 8Gi").await
}

/// Without its reference a quota stays, and is left alone; others may have its share, as far as no pod uses it. A new Queue takes
/// it over.
async fn a_quota_that_is_orphaned_is_left_alone(stage: &Stage) -> Result<()> {
    stage.bed.kubectl(["delete", "queues.quotient.dev/team", "--namespace=team", "--cascade=orphan"]).await?;
    stage.until_allowed("other", "cpu 4, memory 12Gi").await?;
    stage.until_allowed("team", "cpu 4, memory 8Gi").await?;
    ensure!(stage.api::<ResourceQuota>("team").get("quotient").await?.owner_references().is_empty());
    stage.queue_object("team", "team", all_of_it()).await?;
    stage.until_allowed("other", "cpu 4, memory 8Gi").await?;
    stage.until_allowed("team", "cpu 4, memory 8Gi").await?;
    eventually("it is owned again", PATIENCE, async || {
        ensure!(!stage.api::<ResourceQuota>("team").get("quotient").await?.owner_references().is_empty());
        Ok(())
    })
    .await
}

/// In the foreground the quota goes before the Queue, and does not come back. Its namespace is unmanaged: pods above the former
/// share are admitted, and reduce the capacity.
async fn a_deleted_queue_opens_its_namespace(stage: &Stage) -> Result<()> {
    let foreground = ["delete", "queues.quotient.dev/team", "--namespace=team", "--cascade=foreground"];
    stage.bed.kubectl(foreground).await?;
    until_unmanaged(stage, "team").await?;
    stage.until_allowed("other", "cpu 4, memory 12Gi").await?;
    eventually("a pod above the former share is admitted", PATIENCE, async || {
        stage.bed.create_pod("team", "more", &[("cpu", "3"), ("memory", "1Gi")]).await
    })
    .await?;
    stage.until_pods("team", PodCounts::running(5)).await?;
    stage.until_allowed("other", "cpu 1, memory 11Gi").await?;
    ensure!(stage.api::<ResourceQuota>("team").get_opt("quotient").await?.is_none());
    Ok(())
}

/// The policy lets the garbage collector delete the quota and take its reference away, by the name that it has in most
/// clusters, and nothing else.
async fn the_garbage_collector_may_delete_a_quota(stage: &Stage) -> Result<()> {
    let collector = "--as=system:serviceaccount:kube-system:generic-garbage-collector";
    let quota = ["resourcequota/quotient", "--namespace=other", collector];
    let patch = async |patch: &str| {
        let patch = format!("--patch={patch}");
        stage.bed.kubectl([&["patch"][..], &quota, &["--type=merge", &patch]].concat()).await
    };
    let refused = patch(r#"{"spec":{"hard":{"requests.cpu":"9"}}}"#).await.unwrap_err().to_string();
    ensure!(refused.contains("is written by Quotient"), "{refused}");
    patch(r#"{"metadata":{"ownerReferences":null}}"#).await?;
    stage.bed.kubectl([&["delete"][..], &quota].concat()).await?;
    Ok(())
}
