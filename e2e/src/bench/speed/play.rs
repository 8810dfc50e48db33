//! Plays a scenario once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::Api;
use kube::api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams, PostParams};
use serde_json::json;
use tokio::task::{JoinHandle, JoinSet};

use super::measures::evictions;
use super::{Demand, Measures, NodeGroup, Recorder, Scenario, Timeline};
use crate::bench::{Cost, Meter, ProcessNumbers};
use crate::quotient::{GATE_MODE, Operator, Programs, Stage, install_chart, upgrade_chart};
use crate::testbed::{Options, PATIENCE, TestBed, annotations, eventually, until_is};

/// The operator has nothing left to do when it has written nothing for so long.
const REST: Duration = Duration::from_secs(3);
/// Between two looks at the operator's memory.
const SAMPLING: Duration = Duration::from_secs(2);

/// Plays `scenario` on a control plane of its own, with these arguments for the operator beside the defaults, and looks on
/// for `aftermath` once its outcome is there. In the end the command line has to tell each eviction as it was.
pub async fn play(
    scenario: &Scenario,
    programs: &Programs,
    arguments: &[&str],
    aftermath: Duration,
) -> anyhow::Result<(Measures, Timeline)> {
    let termination_delay = scenario.layout.terminates_after;
    let bed = TestBed::start(Options { termination_delay, ..Options::default() }).await?;
    install_chart(&bed).await?;
    let mut arguments = arguments.to_vec();
    if scenario.gated {
        upgrade_chart(&bed, &[GATE_MODE]).await?;
        arguments.push("--gate-mode");
    }
    let stage = Stage { bed, programs: programs.clone() };
    scenario.layout.lay(&stage).await?;
    let operator = Operator::start_with(&stage.bed, &programs.operator, &arguments).await?;
    if scenario.gated {
        for queue in &scenario.layout.queues {
            stage.until_gating(&queue.name).await?;
        }
    }
    scenario.layout.fill(&stage.bed).await?;
    stage.until_quiet_for(REST).await?;

    let recorder = Recorder::start(stage.bed.client()).await?;
    let before: Vec<usize> = scenario.outcome.gains.iter().map(|(name, _)| recorder.have_run(name)).collect();
    let meter = Meter::start(&stage.bed, &operator)?;
    let memory = sample(&operator);
    let demand = Timestamp::now();
    act(scenario, &stage).await?;
    eventually(format!("the outcome of {} is there", scenario.name), PATIENCE, async || {
        for ((name, more), before) in scenario.outcome.gains.iter().zip(&before) {
            let run = recorder.have_run(name).saturating_sub(*before);
            ensure!(run >= *more as usize, "in {name} {run} of {more} pods run");
        }
        anyhow::Ok(())
    })
    .await?;
    let done = Timestamp::now();
    tokio::time::sleep(aftermath).await;

    let cost = meter.stop()?;
    let pods = recorder.pods();
    let measures = Measures::new(scenario, demand, done, &cost, &pods, memory.end());
    let timeline = Timeline::new(scenario, demand, &cost.events, &pods);
    retell(scenario, &stage, &operator, &cost).await?;
    operator.stop().await?;
    stage.bed.stop().await?;
    Ok((measures, timeline))
}

/// Lets the command line tell each eviction: the decision computes the same plan, and the pod went for a queue that gains.
async fn retell(scenario: &Scenario, stage: &Stage, operator: &Operator, cost: &Cost) -> anyhow::Result<()> {
    let evicted: BTreeSet<_> =
        evictions(&cost.events).map(|event| format!("{}/{}", event.namespace, event.name)).collect();
    let beneficiaries = stage.retold_evictions(operator).await?;
    let unexplained: Vec<_> = evicted.iter().filter(|pod| !beneficiaries.contains_key(*pod)).collect();
    ensure!(unexplained.is_empty(), "no decision that the operator kept evicted {unexplained:?}");
    let gain: BTreeSet<_> = scenario.outcome.gains.iter().map(|(name, _)| format!("{name}/{name}")).collect();
    for (pod, queue) in beneficiaries.iter().filter(|(pod, _)| evicted.contains(*pod)) {
        let is_true = queue.as_ref().is_none_or(|queue| gain.contains(queue));
        ensure!(is_true, "{pod} was evicted for {queue:?}; only {gain:?} gain");
    }
    Ok(())
}

/// Looks at the operator's memory until told to end.
struct Sampler {
    task: JoinHandle<()>,
    samples: Arc<Mutex<Vec<u64>>>,
}

fn sample(operator: &Operator) -> Sampler {
    let samples = Arc::default();
    let pid = operator.process().pid();
    let into: Arc<Mutex<Vec<u64>>> = Arc::clone(&samples);
    let task = tokio::spawn(async move {
        while let Ok(numbers) = ProcessNumbers::of(pid) {
            into.lock().unwrap_or_else(PoisonError::into_inner).push(numbers.memory.now);
            tokio::time::sleep(SAMPLING).await;
        }
    });
    Sampler { task, samples }
}

impl Sampler {
    fn end(self) -> Vec<u64> {
        self.task.abort();
        std::mem::take(&mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn act(Scenario { demand, gated, .. }: &Scenario, stage: &Stage) -> anyhow::Result<()> {
    match demand {
        Demand::Arrives { queues, work } => {
            for queue in queues {
                stage.queue(&queue.name, queue.spec.clone()).await?;
                if *gated {
                    stage.until_gating(&queue.name).await?;
                }
            }
            for work in work {
                work.create(&stage.bed.client()).await?;
            }
        }
        Demand::Changes(changes) => {
            for change in changes {
                stage.patch_queue(&change.name, &change.name, change.spec.clone()).await?;
            }
        }
        Demand::NodesGo { count, every } => {
            for number in 0..*count {
                drain(&stage.bed, &NodeGroup::name(number)).await?;
                tokio::time::sleep(*every).await;
            }
            stage.until_quiet_for(REST).await?;
        }
        Demand::Churn { namespaces, every, lasts } => {
            churn(&stage.bed, namespaces, *every, *lasts).await?;
        }
    }
    Ok(())
}

/// As `kubectl drain` and a cloud do it: cordoned, its pods evicted, and then it is gone.
async fn drain(bed: &TestBed, name: &str) -> anyhow::Result<()> {
    let nodes: Api<Node> = Api::all(bed.client());
    let cordon = Patch::Merge(json!({"spec": {"unschedulable": true}}));
    nodes.patch(name, &PatchParams::default(), &cordon).await.context("cordoning")?;
    let pods: Api<Pod> = Api::all(bed.client());
    let on_it = ListParams::default().fields(&format!("spec.nodeName={name}"));
    for pod in pods.list(&on_it).await?.items {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
        let pods: Api<Pod> = Api::namespaced(bed.client(), namespace);
        let name = pod.metadata.name.as_deref().unwrap_or_default();
        pods.evict(name, &EvictParams::default()).await.with_context(|| format!("draining {name}"))?;
    }
    until_is(format!("{name} is empty"), 0, async || Ok(pods.list_metadata(&on_it).await?.items.len()))
        .await?;
    nodes.delete(name, &DeleteParams::default()).await?;
    Ok(())
}

async fn churn(bed: &TestBed, namespaces: &[String], every: Duration, lasts: Duration) -> anyhow::Result<()> {
    let until = Instant::now().checked_add(lasts).context("as long as that")?;
    let mut ticks = tokio::time::interval(every);
    let mut created = JoinSet::new();
    for (number, namespace) in namespaces.iter().cycle().enumerate() {
        ticks.tick().await;
        if Instant::now() >= until {
            break;
        }
        let jobs: Api<Job> = Api::namespaced(bed.client(), namespace);
        created.spawn(async move {
            jobs.create(&PostParams::default(), &short_job(number)?).await.map_err(anyhow::Error::from)
        });
    }
    while let Some(ended) = created.join_next().await {
        ended??;
    }
    Ok(())
}

/// Runs for a second, and is removed soon after.
fn short_job(number: usize) -> anyhow::Result<Job> {
    let requests = json!({"cpu": "1", "memory": "1Gi"});
    Ok(serde_json::from_value(json!({
        "metadata": {"name": format!("short-{number}")},
        "spec": {
            "ttlSecondsAfterFinished": 5,
            "template": {
                "metadata": {"annotations": {annotations::COMPLETE_AFTER_SECONDS: "1"}},
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [{"name": "main", "image": "pause", "resources": {"requests": requests}}],
                },
            },
        },
    }))?)
}
