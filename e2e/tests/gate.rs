//! Gate mode: pods wait for their share instead of being rejected.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, ResourceQuota};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use quotient_e2e::quotient::{Operator, PATIENCE, PodCounts, SHARE_GATE, Stage, queue_job, upgrade_chart};
use quotient_e2e::testbed::{eventually, until_is};
use serde_json::{Value, json};

/// A stage whose chart gates pods, and the operator as the chart starts it.
pub(crate) async fn gated_stage(nodes: &[(&str, &str, &str)]) -> Result<(Stage, Operator)> {
    let stage = Stage::set(nodes).await?;
    upgrade_chart(&stage.bed, &["gateMode.enabled=true"]).await?;
    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    Ok((stage, operator))
}

/// A namespace whose Queue is in Gate mode, from the first pod on.
pub(crate) async fn gated_queue(stage: &Stage, namespace: &str, mut spec: Value) -> Result<()> {
    spec["admission"] = "Gate".into();
    stage.queue(namespace, spec).await?;
    stage.until_gating(namespace).await
}

pub(crate) fn pods(client: &Client, namespace: &str) -> Api<Pod> {
    Api::namespaced(client.clone(), namespace)
}

pub(crate) fn is_gated(pod: &Pod) -> bool {
    let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_deref()).unwrap_or_default();
    gates.iter().any(|gate| gate.name == SHARE_GATE)
}

/// A bare pod of one cpu.
fn pod(name: &str) -> Result<Pod> {
    member(name, &json!({}))
}

/// The same with these annotations.
pub(crate) fn member(name: &str, annotations: &Value) -> Result<Pod> {
    let metadata = json!({"name": name, "annotations": annotations});
    Ok(serde_json::from_value(json!({"metadata": metadata, "spec": pod_spec()}))?)
}

pub(crate) fn pod_spec() -> Value {
    json!({"terminationGracePeriodSeconds": 0, "restartPolicy": "Never", "containers": [
        {"name": "main", "image": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}},
    ]})
}

pub(crate) async fn create(
    stage: &Stage,
    namespace: &str,
    names: impl IntoIterator<Item = String>,
) -> Result<()> {
    let pods = pods(&stage.bed.client(), namespace);
    for name in names {
        pods.create(&PostParams::default(), &pod(&name)?).await.with_context(|| name.clone())?;
    }
    Ok(())
}

/// The names of the gated pods of a namespace.
pub(crate) async fn gated(stage: &Stage, namespace: &str) -> Result<BTreeSet<String>> {
    let all = stage.pods(namespace).await?;
    Ok(all.iter().filter(|pod| is_gated(pod)).map(ResourceExt::name_any).collect())
}

/// The names of the running pods of a namespace.
pub(crate) async fn running(stage: &Stage, namespace: &str) -> Result<BTreeSet<String>> {
    let all = stage.pods(namespace).await?;
    let runs = |pod: &&Pod| pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Running");
    Ok(all.iter().filter(runs).map(ResourceExt::name_any).collect())
}

pub(crate) async fn until_none_is_gated(stage: &Stage, namespace: &str) -> Result<()> {
    eventually(format!("no pod of {namespace} is gated"), PATIENCE, async || {
        let gated = gated(stage, namespace).await?;
        ensure!(gated.is_empty(), "{gated:?}");
        Ok(())
    })
    .await
}

/// The quota of Quotient in a namespace, if there is one.
pub(crate) async fn quota(stage: &Stage, namespace: &str) -> Result<Option<ResourceQuota>> {
    let quotas = stage.api::<ResourceQuota>(namespace);
    Ok(quotas.get_opt("quotient").await?)
}

pub(crate) async fn until_quota(stage: &Stage, namespace: &str, is_there: bool) -> Result<()> {
    until_is(format!("a quota in {namespace}: {is_there}"), is_there, async || {
        Ok(quota(stage, namespace).await?.is_some())
    })
    .await
}

/// Ends a pod at once.
pub(crate) async fn end(stage: &Stage, namespace: &str, name: &str) -> Result<()> {
    let now = DeleteParams::default().grace_period(0);
    pods(&stage.bed.client(), namespace).delete(name, &now).await?;
    Ok(())
}

/// So many run, and so many wait.
pub(crate) fn waiting(running: u32, pending: u32) -> PodCounts {
    PodCounts { running, pending, ..PodCounts::default() }
}

/// A patch that removes the first gate.
fn open() -> Result<Patch<()>> {
    Ok(Patch::Json(serde_json::from_value(json!([{"op": "remove", "path": "/spec/schedulingGates/0"}]))?))
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_wait_for_their_share_alone_and_in_gangs_with_and_without_an_operator() -> Result<()> {
    let (stage, operator) = gated_stage(&[("node-1", "8", "64Gi")]).await?;
    pods_wait_for_their_share_and_none_is_refused(&stage).await?;
    for team in ["a", "b"] {
        stage.remove_queue(team).await?;
    }
    of_two_gangs_on_room_for_one_no_half_ever_runs_in_any_order(&stage).await?;
    stage.remove_queue("gangs").await?;
    queue_jobs_run_under_gate_mode(&stage).await?;
    a_tenant_neither_removes_the_gate_nor_goes_without(&stage).await?;
    stage.remove_queue("held").await?;
    let operator =
        while_the_operator_is_down_for_a_minute_new_pods_wait_for_it_or_for_a_release(&stage, operator)
            .await?;
    stage.end(operator).await
}

async fn pods_wait_for_their_share_and_none_is_refused(stage: &Stage) -> Result<()> {
    for team in ["a", "b"] {
        gated_queue(stage, team, json!({})).await?;
    }
    // A node counts once it has been Ready for ten seconds.
    create(stage, "a", ["before".to_owned()]).await?;
    stage.until_pods("a", PodCounts::running(1)).await?;
    end(stage, "a", "before").await?;
    stage.until_quiet_for(Duration::from_secs(1)).await?;

    // On an idle cluster a pod starts at once.
    let begin = Instant::now();
    create(stage, "a", ["first".to_owned()]).await?;
    until_none_is_gated(stage, "a").await?;
    println!("the first pod is let in after {:?}", begin.elapsed());
    stage.until_pods("a", PodCounts::running(1)).await?;
    println!("the first pod runs after {:?}", begin.elapsed());

    // A creator that gives up at the first 403 creates all of its pods, and both teams get their half.
    create(stage, "a", (0..7).map(|number| format!("a-{number}"))).await?;
    stage.until_pods("a", PodCounts::running(8)).await?;
    create(stage, "b", (0..8).map(|number| format!("b-{number}"))).await?;
    stage.until_pods("b", waiting(4, 4)).await?;
    until_is("the status counts the gated pods", (4, 0, 4), async || {
        let counts = stage.queue_status("b").await?.pods.context("no pods are counted")?;
        Ok((counts.running, counts.pending, counts.gated))
    })
    .await?;
    for team in ["a", "b"] {
        ensure!(quota(stage, team).await?.is_none(), "{team} has a quota");
    }
    // The oldest pods of `b` were let in first, and what ends gives room to the next.
    ensure!(running(stage, "b").await? == ["b-0", "b-1", "b-2", "b-3"].map(String::from).into());
    let begin = Instant::now();
    end(stage, "b", "b-0").await?;
    eventually("the next pod of b runs", PATIENCE, async || {
        ensure!(running(stage, "b").await?.contains("b-4"), "it does not");
        Ok(())
    })
    .await?;
    println!("the next pod runs {:?} after a deletion", begin.elapsed());

    // A limit is the one thing that the quota holds.
    stage.patch_queue("b", "b", json!({"limit": {"cpu": "7"}})).await?;
    until_is("the quota holds the limit", ["requests.cpu=7"], async || {
        let spec = quota(stage, "b").await?.and_then(|quota| quota.spec);
        let hard = spec.and_then(|spec| spec.hard).unwrap_or_default();
        let shown: Vec<_> = hard.iter().map(|(key, amount)| format!("{key}={}", amount.0)).collect();
        Ok(shown)
    })
    .await
}

async fn a_tenant_neither_removes_the_gate_nor_goes_without(stage: &Stage) -> Result<()> {
    gated_queue(stage, "held", json!({})).await?;
    let bed = &stage.bed;
    let user = async |name: &str, place: Option<&str>| -> Result<Client> {
        bed.client_for(&bed.user_with_role(name, "cluster-admin", place).await?).await
    };
    let (tenant, administrator) = (user("tenant", Some("held")).await?, user("administrator", None).await?);

    create(stage, "held", (0..9).map(|number| format!("p-{number}"))).await?;
    stage.until_pods("held", waiting(8, 1)).await?;
    ensure!(gated(stage, "held").await? == ["p-8".to_owned()].into());
    let by_merge = Patch::Merge(json!({"spec": {"schedulingGates": null}}));
    let parameters = PatchParams::default();
    for outcome in [
        pods(&tenant, "held").patch("p-8", &parameters, &open()?).await,
        pods(&tenant, "held").patch("p-8", &parameters, &by_merge).await,
    ] {
        let Err(kube::Error::Api(refused)) = outcome else { anyhow::bail!("a tenant removed the gate") };
        ensure!(refused.code == 403 && refused.message.contains("when the Queue has room"), "{refused:?}");
    }
    // The pod that it creates is gated, whatever gates it names, and other changes of the pod are its own.
    let mut own = pod("own")?;
    own.spec.as_mut().context("no spec")?.scheduling_gates =
        Some(vec![serde_json::from_value(json!({"name": "example.org/other"}))?]);
    let created = pods(&tenant, "held").create(&PostParams::default(), &own).await?;
    ensure!(is_gated(&created), "{created:?}");
    let label = Patch::Merge(json!({"metadata": {"labels": {"any": "thing"}}}));
    pods(&tenant, "held").patch("p-8", &PatchParams::default(), &label).await?;
    let other = Patch::Json::<()>(serde_json::from_value(
        json!([{"op": "test", "path": "/spec/schedulingGates/0/name", "value": "example.org/other"},
            {"op": "remove", "path": "/spec/schedulingGates/0"}]),
    )?);
    pods(&tenant, "held").patch("own", &PatchParams::default(), &other).await?;
    // An administrator of shares may let it in.
    pods(&administrator, "held").patch("p-8", &PatchParams::default(), &open()?).await?;
    ensure!(!gated(stage, "held").await?.contains("p-8"));
    Ok(())
}

/// How long no operator runs.
const DOWN: Duration = Duration::from_secs(60);

async fn while_the_operator_is_down_for_a_minute_new_pods_wait_for_it_or_for_a_release(
    stage: &Stage,
    operator: Operator,
) -> Result<Operator> {
    for team in ["team", "released"] {
        gated_queue(stage, team, json!({})).await?;
    }
    create(stage, "team", ["one".to_owned()]).await?;
    stage.until_pods("team", PodCounts::running(1)).await?;
    operator.stop().await?;
    create(stage, "team", ["two".to_owned(), "three".to_owned()]).await?;
    create(stage, "released", (0..3).map(|number| format!("p-{number}"))).await?;
    tokio::time::sleep(DOWN).await;
    stage.until_pods("team", waiting(1, 2)).await?;
    ensure!(gated(stage, "team").await?.len() == 2 && gated(stage, "released").await?.len() == 3);

    let released = stage.command_line(&["release", "released"]).await?;
    let printed = String::from_utf8_lossy(&released.stdout).into_owned();
    ensure!(released.status.success(), "{printed}{}", String::from_utf8_lossy(&released.stderr));
    ensure!(gated(stage, "released").await?.is_empty(), "{printed}");
    stage.until_pods("released", PodCounts::running(3)).await?;
    ensure!(gated(stage, "team").await?.len() == 2, "{printed}");

    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    stage.until_pods("team", PodCounts::running(3)).await?;
    stage.until_pods("released", PodCounts::running(3)).await?;
    Ok(operator)
}

/// In how many orders the pods of two gangs are created.
const ORDERS: u64 = 20;

/// The pods of two gangs of eight, in an order that `seed` decides (Fisher and Yates, with a linear congruential generator).
///
/// No name is used twice: the kubelet of the test bed may write the status of a pod that is gone to one of the same name.
fn interleaved(seed: u64) -> Vec<String> {
    let mut names: Vec<String> =
        (0..16).map(|number| format!("{}-{seed}-{}", ["x", "y"][number % 2], number / 2)).collect();
    let mut state = seed;
    for place in (1..names.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        names.swap(place, usize::try_from(state >> 33).unwrap_or_default() % (place + 1));
    }
    names
}

async fn of_two_gangs_on_room_for_one_no_half_ever_runs_in_any_order(stage: &Stage) -> Result<()> {
    gated_queue(stage, "gangs", json!({})).await?;
    let all = pods(&stage.bed.client(), "gangs");
    for order in 0..ORDERS {
        for name in interleaved(order) {
            let annotations =
                json!({"quotient.dev/gang": &name[..1], "quotient.dev/gang-min-available": "8"});
            all.create(&PostParams::default(), &member(&name, &annotations)?).await?;
        }
        stage.until_pods("gangs", waiting(8, 8)).await?;
        let first = running(stage, "gangs").await?;
        let gang = first.first().context("nothing runs")?.split('-').next().unwrap_or_default().to_owned();
        ensure!(first.iter().all(|name| name.starts_with(&gang)), "order {order}: {first:?}");
        for name in &first {
            // Until the last one is gone nothing of the other gang is let in.
            ensure!(gated(stage, "gangs").await?.len() == 8, "order {order}");
            end(stage, "gangs", name).await?;
        }
        stage.until_pods("gangs", PodCounts::running(8)).await?;
        let second = running(stage, "gangs").await?;
        ensure!(second.is_disjoint(&first), "order {order}: {second:?}");
        for name in &second {
            end(stage, "gangs", name).await?;
        }
        stage.until_pods("gangs", PodCounts::default()).await?;
    }
    Ok(())
}

/// A QueueJob gets the slots that there is room for, and its pods are let in; a second one waits until its minimum has room.
async fn queue_jobs_run_under_gate_mode(stage: &Stage) -> Result<()> {
    gated_queue(stage, "jobs", json!({})).await?;
    stage.submit("jobs", queue_job("first", 2, 3, 2, 1)).await?;
    stage.until_jobs("jobs", "first 3/3").await?;
    stage.submit("jobs", queue_job("second", 2, 2, 2, 1)).await?;
    // The slot above the minimum of the first one is lent.
    stage.until_jobs("jobs", "first 2/2, second 2/2").await?;
    ensure!(gated(stage, "jobs").await?.is_empty());
    stage.pods_succeed("jobs", "first", 2).await?;
    stage.until_jobs("jobs", "first 1/1, second 2/2").await?;
    stage.bed.kubectl(["delete", "queuejobs.quotient.dev", "--all", "--namespace=jobs"]).await?;
    stage.remove_queue("jobs").await
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_gated_pods_are_let_in_as_queues_share_and_by_age() -> Result<()> {
    let nodes = ["node-1", "node-2", "node-3", "node-4"].map(|name| (name, "2500m", "64Gi"));
    let (stage, operator) = gated_stage(&nodes).await?;
    // Ten cpu are room for 200 pods.
    let shares = [("one", 1, 40), ("two", 2, 80), ("three", 2, 80)];
    for (team, weight, _) in shares {
        gated_queue(&stage, team, json!({"weight": weight})).await?;
    }
    operator.stop().await?;
    let mut small = pod_spec();
    small["containers"][0]["resources"]["requests"] = json!({"cpu": "50m", "memory": "64Mi"});
    for number in 0..500 {
        let (team, _, _) = shares[number % 3];
        let pod = json!({"metadata": {"name": format!("p-{number:03}")}, "spec": small});
        let pod = serde_json::from_value(pod)?;
        pods(&stage.bed.client(), team).create(&PostParams::default(), &pod).await?;
    }
    let begin = Instant::now();
    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    for (place, (team, _, share)) in shares.into_iter().enumerate() {
        let numbers: Vec<usize> = (0..500).filter(|number| number % 3 == place).collect();
        let rest = u32::try_from(numbers.len())? - share;
        stage.until_pods(team, waiting(share, rest)).await?;
        let oldest = numbers.iter().take(usize::try_from(share)?).map(|number| format!("p-{number:03}"));
        ensure!(running(&stage, team).await? == oldest.collect(), "{team}");
    }
    println!("200 of 500 pods run {:?} after the start of the operator", begin.elapsed());
    stage.end(operator).await
}
