//! An upgrade from the release before, and the way back, with workloads running: no pod is evicted, and no quota shrinks.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, ResourceExt as _};
use quotient_e2e::quotient::{
    ALL_RIGHTS, IMAGE_REGISTRY, Newcomer, ON_INFRA_NODE, Operator, PodCounts, Previous, RELEASE,
    SYSTEM_NAMESPACE, Stage, add_infra_node, chart, queue_job, queues, quotas, shares_text,
};
use quotient_e2e::testbed::{Options, objects};
use serde_json::json;

use crate::reader::{Reader, blocks, commands};

const PAGE: &str = include_str!("../../docs/operations/upgrade.md");

/// The pods of the teams, by name and uid.
async fn pods(stage: &Stage) -> Result<BTreeSet<(String, String)>> {
    let all: Api<Pod> = Api::all(stage.bed.client());
    let pods = all.list(&ListParams::default()).await?.items.into_iter();
    let of_teams = pods.filter(|pod| pod.namespace().is_some_and(|namespace| namespace.starts_with("team-")));
    Ok(of_teams.map(|pod| (pod.name_any(), pod.uid().unwrap_or_default())).collect())
}

/// Replaces one operator by another as a Deployment does: the new one starts before the old one ends.
async fn roll(stage: &Stage, old: Operator, program: &Path) -> Result<Operator> {
    let new = Operator::start_as_installed(&stage.bed, program).await?;
    old.stop().await?;
    new.until_it_leads().await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    Ok(new)
}

/// team-a borrows, team-b has a StatefulSet's worth of pods below its share, team-c runs a gang.
async fn workloads(stage: &Stage) -> Result<()> {
    stage.queue("team-a", json!({"weight": 1})).await?;
    stage.queue("team-b", json!({"weight": 1, "guaranteed": {"cpu": "2"}})).await?;
    stage.queue("team-c", json!({"weight": 1, "limit": {"cpu": "4"}})).await?;
    let one = || objects::one_cpu();
    stage.deployment("team-b", "web", 2, one(), false).await?;
    stage.until_pods("team-b", PodCounts::running(2)).await?;
    stage.submit("team-c", queue_job("train", 2, 2, 1, 1)).await?;
    stage.until_jobs("team-c", "train 2/2").await?;
    stage.deployment("team-a", "web", 8, one(), false).await?;
    stage.until_pods("team-a", PodCounts::running(8)).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_and_the_way_back_evict_no_pod() -> Result<()> {
    let previous = Previous::build().await?;
    let stage = Stage::bare(Options { audit_bodies: true, ..Options::default() }).await?;
    add_infra_node(&stage.bed).await?;
    stage.bed.add_node("node-1", &[("cpu", "12"), ("memory", "24Gi")]).await?;
    let helm = async |words: &[&str], sets: &[&str]| -> Result<String> {
        let sets = sets.iter().flat_map(|value| ["--set", value]);
        let command = words.iter().copied().chain(["--namespace", SYSTEM_NAMESPACE, "--wait"]).chain(sets);
        stage.bed.helm(command).await
    };
    let before = previous.chart.to_string_lossy().into_owned();
    let sets = [&[IMAGE_REGISTRY, "config.mode=Full"][..], &ON_INFRA_NODE, &ALL_RIGHTS].concat();
    helm(&["install", RELEASE, &before, "--create-namespace"], &sets).await?;
    let old = Operator::start_as_installed(&stage.bed, &previous.operator).await?;
    old.until_it_leads().await?;
    workloads(&stage).await?;
    let (running, shares, hard) =
        (pods(&stage).await?, shares_text(&queues(&stage.bed).await?), quotas(&stage.bed).await?);

    let now = chart().to_string_lossy().into_owned();
    let upgrade = ["upgrade", RELEASE, &now, "--reset-then-reuse-values"];
    // Between two commits the version of the chart stays, so another tag stands for that of the next release.
    let next = ["image.tag=0.1.1"];
    for sentence in ["--reset-then-reuse-values\n", "helm rollback quotient"] {
        ensure!(PAGE.contains(sentence), "docs/operations/upgrade.md does not say {sentence}");
    }
    helm(&upgrade, &next).await?;
    let new = roll(&stage, old, &stage.programs.operator).await?;
    assert_eq!(pods(&stage).await?, running, "an upgrade ends no pod");
    assert_eq!(quotas(&stage.bed).await?, hard, "an upgrade moves no quota");
    assert_eq!(shares_text(&queues(&stage.bed).await?), shares);

    // And back.
    helm(&["rollback", RELEASE], &[]).await?;
    let old = roll(&stage, new, &previous.operator).await?;
    assert_eq!(pods(&stage).await?, running, "the way back ends no pod");
    assert_eq!(quotas(&stage.bed).await?, hard, "the way back moves no quota");

    // Forward again, and at work: team-b needs its share.
    helm(&upgrade, &next).await?;
    let new = roll(&stage, old, &stage.programs.operator).await?;
    assert_eq!(pods(&stage).await?, running);
    assert_eq!(Newcomer::evicted(&stage.bed.audit().events()?), [""; 0]);
    stage.bed.kubectl(["scale", "deployment/web", "--namespace=team-b", "--replicas=4"]).await?;
    stage.until_pods("team-b", PodCounts::running(4)).await?;
    ensure!(
        !Newcomer::evicted(&stage.bed.audit().events()?).is_empty(),
        "team-b got its share without an eviction"
    );

    // The migration of stored objects, rehearsed with the version that there is.
    let evicted = Newcomer::evicted(&stage.bed.audit().events()?);
    let reader = Reader::new(&stage).await?;
    let migration =
        blocks(PAGE).into_iter().map(|(_, block)| block).find(|block| block.contains("storedVersions"));
    for command in commands(&migration.context("the page has no migration")?) {
        reader.run(&command.replace("NEW_VERSION", "v1alpha1")).await?;
    }
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    assert_eq!(Newcomer::evicted(&stage.bed.audit().events()?), evicted);
    new.stop().await?;
    stage.bed.stop().await
}
