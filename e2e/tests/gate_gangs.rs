//! Gate mode on gangs that others make: PodGroups of all schedulers, and Jobs that are gangs for Kubernetes itself.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{DeleteParams, PostParams};
use quotient_e2e::quotient::{GATE_MODE, Operator, PodCounts, Stage, upgrade_chart};
use serde_json::json;

use crate::gate::{create, end, pod_spec, running, waiting};
use crate::pod_groups::{self, stage_with_pod_groups};

/// In Quota mode they are evicted whole. Then on four cpus in Gate mode: gangs that the Job controller makes, and those of other
/// schedulers.
#[tokio::test(flavor = "multi_thread")]
async fn gangs_of_pod_groups_go_whole_and_are_let_in_whole() -> Result<()> {
    let stage = stage_with_pod_groups(&[("node-1", "4", "64Gi"), ("node-2", "4", "64Gi")]).await?;
    let operator = stage.start_operator().await?;
    pod_groups::gangs_of_other_schedulers_go_whole(&stage).await?;
    operator.stop().await?;

    stage.bed.kubectl(["delete", "node/node-2"]).await?;
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    stage.queue_object("a", "a", json!({"admission": "Gate"})).await?;
    stage.until_gating("a").await?;
    jobs_that_kubernetes_makes_gangs_of_are_let_in_whole(&stage).await?;
    pod_groups_of_all_kinds_are_let_in_whole(&stage).await?;
    stage.end(operator).await
}

/// The Job controller makes a PodGroup for an Indexed Job (gate `WorkloadWithJob`), whose pods are then a gang.
async fn jobs_that_kubernetes_makes_gangs_of_are_let_in_whole(stage: &Stage) -> Result<()> {
    let jobs = stage.api::<Job>("a");
    for name in ["first", "second"] {
        let job = json!({
            "metadata": {"name": name},
            "spec": {
                "completionMode": "Indexed", "completions": 3, "parallelism": 3,
                "template": {"spec": pod_spec()},
            },
        });
        jobs.create(&PostParams::default(), &serde_json::from_value(job)?).await?;
    }
    stage.until_pods("a", waiting(3, 3)).await?;
    let is_of_group = |pod: &Pod| {
        pod.spec.as_ref().is_some_and(|spec| {
            spec.scheduling_group.as_ref().is_some_and(|group| group.pod_group_name.is_some())
        })
    };
    let all = stage.pods("a").await?;
    ensure!(all.iter().all(is_of_group), "{:?}", all.iter().map(ResourceExt::name_any).collect::<Vec<_>>());
    let of = |names: &BTreeSet<String>| {
        names
            .iter()
            .map(|name| name.split('-').next().unwrap_or_default().to_owned())
            .collect::<BTreeSet<_>>()
    };
    let first = of(&running(stage, "a").await?);
    ensure!(first.len() == 1, "{first:?}");
    for name in &first {
        jobs.delete(name, &DeleteParams::background()).await?;
    }
    stage.until_pods("a", PodCounts::running(3)).await?;
    let second = of(&running(stage, "a").await?);
    ensure!(second.len() == 1 && second.is_disjoint(&first), "{second:?}");
    for name in &second {
        jobs.delete(name, &DeleteParams::background()).await?;
    }
    stage.until_pods("a", PodCounts::default()).await
}

/// Of each kind of PodGroup a gang of two, created in turns, beside a pod that leaves room for three: one gang after the other
/// runs, and never one pod of a gang.
async fn pod_groups_of_all_kinds_are_let_in_whole(stage: &Stage) -> Result<()> {
    const HOLDER: &str = "holder";
    create(stage, "a", [HOLDER.to_owned()]).await?;
    stage.until_pods("a", PodCounts::running(1)).await?;
    stage.apply(&pod_groups::all_groups()).await?;
    for number in [1, 2] {
        stage.apply(&pod_groups::all_members(number)).await?;
    }
    for left in (0..pod_groups::WAYS.len()).rev() {
        stage.until_pods("a", waiting(1 + 2, u32::try_from(2 * left)?)).await?;
        let mut names = running(stage, "a").await?;
        names.remove(HOLDER);
        let gangs: BTreeSet<&str> =
            names.iter().filter_map(|name| name.split_once('-')).map(|(_, gang)| gang).collect();
        ensure!(gangs.len() == 1, "{names:?}");
        for name in &names {
            end(stage, "a", name).await?;
        }
    }
    Ok(())
}
