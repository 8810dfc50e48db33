//! Two gangs that exist in part in Quota mode: the Queue names both, and after a minute one yields to the other.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use quotient_crds::Unmet;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage, label};
use quotient_e2e::testbed::{eventually, until_is};
use serde_json::json;

use crate::gate::pod_spec;

/// How long no pod of the two gangs may have been created, by the operator's own constant.
const INCOMPLETE: Duration = Duration::from_secs(60);

async fn unmet(stage: &Stage) -> Result<BTreeMap<String, Unmet>> {
    let status = stage.queue_status("team").await?;
    Ok(status.unmet.into_iter().map(|unmet| (unmet.name.clone(), unmet)).collect())
}

async fn parallelism(jobs: &Api<Job>, name: &str) -> Result<i32> {
    let spec = jobs.get(name).await?.spec.context("a Job has a spec")?;
    spec.parallelism.context("a Job has a parallelism")
}

/// Waits until each Job has so many pods.
async fn until_jobs_have(stage: &Stage, what: &str, expected: &str) -> Result<()> {
    until_is(what, expected, async || stage.pods_by("team", |pod| label(pod, "job-name")).await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_gangs_in_the_room_of_one_the_younger_yields_after_a_minute() -> Result<()> {
    let stage = Stage::set(&[("node-1", "4", "64Gi")]).await?;
    let operator = stage.start_operator().await?;
    stage.claim("team", json!({"limit": {"cpu": "4"}})).await?;
    stage.until_allowed("team", "cpu 4, memory 64Gi").await?;
    let jobs = stage.api::<Job>("team");
    for name in ["older", "younger"] {
        let annotations = json!({"quotient.dev/gang": name, "quotient.dev/gang-min-available": "3"});
        let job = json!({
            "metadata": {"name": name},
            "spec": {
                "parallelism": 2, "completions": 3,
                "template": {"metadata": {"annotations": annotations}, "spec": pod_spec()},
            },
        });
        jobs.create(&PostParams::default(), &serde_json::from_value(job)?).await?;
        // Two objects of one second are in the order of their names.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    stage.until_pods("team", PodCounts::running(4)).await?;
    let last_pod = Instant::now();
    for name in ["older", "younger"] {
        let all = Patch::Merge(json!({"spec": {"parallelism": 3}}));
        jobs.patch(name, &PatchParams::default(), &all).await?;
    }
    eventually("the Queue names both gangs", PATIENCE, async || {
        let unmet = unmet(&stage).await?;
        for (name, other, next) in [
            ("older", "younger", "Quotient lowers Job younger to 0."),
            ("younger", "older", "and restores it when all of the gang has room."),
        ] {
            let found = unmet.get(name).with_context(|| format!("nothing is said of {name}"))?;
            let what = format!("The gang has 2 of 3 pods because Job {other}, which has 2 of 3,");
            ensure!(found.reason == "GangIncomplete" && found.pods == 1, "{found:?}");
            ensure!(found.message.starts_with(&what) && found.message.ends_with(next), "{found:?}");
        }
        Ok(())
    })
    .await?;
    ensure!(last_pod.elapsed() < INCOMPLETE, "told after {:?}", last_pod.elapsed());
    ensure!(parallelism(&jobs, "younger").await? == 3);

    until_jobs_have(&stage, "the older gang is complete", "older 3").await?;
    println!("the older gang is complete {:?} after the last pod", last_pod.elapsed());
    ensure!(parallelism(&jobs, "younger").await? == 0);
    let said = "its gang and that of Job older existed in part for 60 s";
    stage.until_event("team", "GangIncomplete", said).await?;

    // With room for all of it, and not for a part, it comes back.
    stage.until_pods("team", PodCounts::running(3)).await?;
    jobs.delete("older", &DeleteParams::background()).await?;
    until_jobs_have(&stage, "the younger gang is complete", "younger 3").await?;
    ensure!(parallelism(&jobs, "younger").await? == 3);
    stage.end(operator).await
}
