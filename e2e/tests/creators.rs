//! What creators of other systems do with a rejected pod, as their sources say, in both modes (docs/tenants/creators.md).

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use quotient_e2e::quotient::{PATIENCE, PodCounts, Stage};
use quotient_e2e::testbed::objects;
use serde_json::json;

use crate::gate::{gated_queue, gated_stage, pod_spec, pods, waiting};

/// A system that creates pods, and how it goes on after a rejection.
#[derive(Clone, Copy)]
struct Creator {
    name: &'static str,
    /// Between two tries; none if it gives up.
    tries_every: Option<Duration>,
}

/// GitLab Runner fails the job, Spark's driver asks for executors every second, Argo Workflows requeues after ten seconds.
const CREATORS: [Creator; 3] = [
    Creator { name: "gitlab-runner", tries_every: None },
    Creator { name: "spark-driver", tries_every: Some(Duration::from_secs(1)) },
    Creator { name: "argo-workflows", tries_every: Some(Duration::from_secs(10)) },
];

impl Creator {
    /// Creates its pod: says after how many tries, or with which error it gave up. Ends after `patience`.
    async fn create(self, all: &Api<Pod>, patience: Duration) -> Result<u32, String> {
        let pod: Pod = serde_json::from_value(json!({
            "metadata": {"name": self.name},
            "spec": {"terminationGracePeriodSeconds": 0, "containers": [
                {"name": "main", "image": "main", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
            ]},
        }))
        .map_err(|error| error.to_string())?;
        let begin = Instant::now();
        for tries in 1.. {
            let Err(error) = all.create(&PostParams::default(), &pod).await else { return Ok(tries) };
            match self.tries_every {
                Some(pause) if begin.elapsed() + pause < patience => tokio::time::sleep(pause).await,
                _ => return Err(error.to_string()),
            }
        }
        Err("it tries no more".to_owned())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quota_lets_creators_wait_and_a_gate_lets_them_create_at_once() -> Result<()> {
    let (stage, operator) = gated_stage(&[("node-1", "8", "64Gi")]).await?;
    a_quota_lets_creators_fail_or_try_until_room_is_idle(&stage).await?;
    for team in ["old", "new"] {
        stage.remove_queue(team).await?;
    }
    in_gate_mode_every_creator_has_its_pod_at_once_and_the_pod_its_share(&stage).await?;
    stage.end(operator).await
}

async fn a_quota_lets_creators_fail_or_try_until_room_is_idle(stage: &Stage) -> Result<()> {
    // `old` uses all of the cluster, and half of it is the share of `new`.
    stage.queue("old", json!({})).await?;
    stage.deployment("old", "web", 8, objects::one_cpu(), false).await?;
    stage.until_pods("old", PodCounts::running(8)).await?;
    stage.queue("new", json!({})).await?;
    stage.until_allowed("new", "memory 8Gi").await?;
    let all = pods(&stage.bed.client(), "new");
    for creator in CREATORS {
        let gave_up = creator.create(&all, Duration::from_secs(3)).await.err();
        let why = gave_up.with_context(|| format!("{} has its pod", creator.name))?;
        ensure!(why.contains("exceeded quota"), "{}: {why}", creator.name);
    }
    // No known workload wants these pods, so none is evicted for them.
    stage.until_pods("old", PodCounts::running(8)).await?;
    let tries = |creator: Creator| {
        let all = all.clone();
        tokio::spawn(async move { creator.create(&all, PATIENCE).await })
    };
    let [_, spark, argo] = CREATORS.map(tries);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let begin = Instant::now();
    stage.bed.kubectl(["scale", "deployment/web", "--replicas=6", "--namespace=old"]).await?;
    for (name, created) in [("spark-driver", spark), ("argo-workflows", argo)] {
        let tries = created.await?.map_err(anyhow::Error::msg)?;
        println!("{name} has its pod after {tries} tries, {:?} after room is idle", begin.elapsed());
        ensure!(tries > 1, "{name} was not rejected");
    }
    Ok(())
}

/// Of eight cpus a Deployment uses all, and more of its pods wait. The others are created by the systems above and by Jobs.
async fn in_gate_mode_every_creator_has_its_pod_at_once_and_the_pod_its_share(stage: &Stage) -> Result<()> {
    for team in ["gated-old", "gated-new"] {
        gated_queue(stage, team, json!({})).await?;
    }
    stage.deployment("gated-old", "web", 12, objects::one_cpu(), false).await?;
    stage.until_pods("gated-old", waiting(8, 4)).await?;
    let begin = Instant::now();
    let jobs = stage.api::<Job>("gated-new");
    for name in ["job-0", "job-1"] {
        let job = json!({"metadata": {"name": name}, "spec": {"template": {"spec": pod_spec()}}});
        jobs.create(&PostParams::default(), &serde_json::from_value(job)?).await?;
    }
    let all = pods(&stage.bed.client(), "gated-new");
    for creator in CREATORS {
        let tries = creator.create(&all, PATIENCE).await.map_err(anyhow::Error::msg)?;
        ensure!(tries == 1, "{} needed {tries} tries", creator.name);
    }
    // Three pods of half a cpu, and two of one.
    stage.until_pods("gated-new", PodCounts::running(5)).await?;
    println!("the pods of all creators run after {:?}", begin.elapsed());
    stage.until_pods("gated-old", waiting(4, 8)).await
}
