//! Gate mode on gangs of every kind: QueueJobs, PodGroups of all schedulers, Jobs that are gangs for Kubernetes itself, and
//! pods of several shapes.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, ResourceExt};
use quotient_e2e::quotient::{GATE_MODE, Operator, PodCounts, Stage, queue_job, upgrade_chart};
use quotient_e2e::testbed::until_is;
use serde_json::json;

use crate::gate::{create, end, gated, gated_queue, gated_stage, member, pod_spec, pods, running, waiting};
use crate::pod_groups::{self, stage_with_pod_groups};

/// Waits until exactly these pods of the namespace run.
async fn until_running(stage: &Stage, namespace: &str, expected: &BTreeSet<String>) -> Result<()> {
    until_is(format!("{expected:?} run"), expected.clone(), async || running(stage, namespace).await).await
}

/// On four cpus: gangs that Quotient makes itself, and gangs that annotations of pods make.
#[tokio::test(flavor = "multi_thread")]
async fn queue_jobs_and_gangs_of_annotations_are_let_in_whole() -> Result<()> {
    let (stage, operator) = gated_stage(&[("node-1", "4", "64Gi")]).await?;
    gated_queue(&stage, "team", json!({})).await?;
    queue_jobs_run_under_gate_mode(&stage).await?;
    stage.bed.kubectl(["delete", "queuejobs.quotient.dev", "--all", "--namespace=team"]).await?;
    stage.until_pods("team", PodCounts::default()).await?;
    a_gang_of_several_shapes_is_let_in_whole(&stage).await?;
    stage.end(operator).await
}

/// A QueueJob gets the slots that there is room for, and its pods are let in; a second one waits until its minimum has room.
async fn queue_jobs_run_under_gate_mode(stage: &Stage) -> Result<()> {
    stage.submit("team", queue_job("first", 2, 3, 1, 1)).await?;
    stage.until_jobs("team", "first 3/3").await?;
    stage.submit("team", queue_job("second", 2, 2, 1, 1)).await?;
    // The slot above the minimum of the first one is lent.
    stage.until_jobs("team", "first 2/2, second 2/2").await?;
    ensure!(gated(stage, "team").await?.is_empty());
    stage.pods_succeed("team", "first", 2).await?;
    stage.until_jobs("team", "first 1/1, second 2/2").await
}

/// A gang whose members request different amounts takes room for all of them, and a younger single pod does not take it away.
async fn a_gang_of_several_shapes_is_let_in_whole(stage: &Stage) -> Result<()> {
    let all = pods(&stage.bed.client(), "team");
    let sized = |name: &str, cpu: &str, annotations| -> Result<Pod> {
        let mut pod = serde_json::to_value(member(name, &annotations)?)?;
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu.into();
        Ok(serde_json::from_value(pod)?)
    };
    let gang = json!({"quotient.dev/gang": "g", "quotient.dev/gang-min-available": "3"});
    all.create(&PostParams::default(), &sized("holder", "2", json!({}))?).await?;
    until_running(stage, "team", &["holder".to_owned()].into()).await?;
    for (name, cpu) in [("leader", "1"), ("worker-1", "1500m"), ("worker-2", "1500m")] {
        all.create(&PostParams::default(), &sized(name, cpu, gang.clone())?).await?;
    }
    // The gang of four cpu lacks two of them, and no part of it takes the other two.
    stage.until_pods("team", waiting(1, 3)).await?;
    end(stage, "team", "holder").await?;
    until_running(stage, "team", &["leader", "worker-1", "worker-2"].map(str::to_owned).into()).await?;
    all.create(&PostParams::default(), &sized("single", "500m", json!({}))?).await?;
    stage.until_pods("team", waiting(3, 1)).await?;
    ensure!(gated(stage, "team").await? == ["single".to_owned()].into());
    Ok(())
}

/// On four cpus: gangs that the Job controller makes, and those of other schedulers.
#[tokio::test(flavor = "multi_thread")]
async fn gangs_of_pod_groups_are_let_in_whole() -> Result<()> {
    let stage = stage_with_pod_groups(&[("node-1", "4", "64Gi")]).await?;
    upgrade_chart(&stage.bed, &[GATE_MODE]).await?;
    let operator = Operator::start_as_installed(&stage.bed, &stage.programs.operator).await?;
    gated_queue(&stage, "a", json!({})).await?;
    jobs_that_kubernetes_makes_gangs_of_are_let_in_whole(&stage).await?;
    pod_groups_of_all_kinds_are_let_in_whole(&stage).await?;
    stage.end(operator).await
}

/// The Job controller makes a PodGroup for an Indexed Job (gate `WorkloadWithJob`), whose pods are then a gang.
async fn jobs_that_kubernetes_makes_gangs_of_are_let_in_whole(stage: &Stage) -> Result<()> {
    let jobs: Api<Job> = Api::namespaced(stage.bed.client(), "a");
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
