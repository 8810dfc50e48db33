//! Every example, foretold and real: where `kubectl quotient simulate` ends, a cluster comes to rest.
//!
//! What stands in `examples/` is found by listing, so a new example is covered by being there.
//! Pods that have a name of their own are compared by it, those that a workload makes by number.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use futures::future::try_join_all;
use k8s_openapi::api::apps::v1::{Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodCondition, ResourceQuota};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::ListParams;
use quotient_crds::ConditionType;
use quotient_e2e::quotient::{
    Operator, PATIENCE, SYSTEM_NAMESPACE, Stage, queues, quota_amounts, workspace_root, writes_of_operator,
};
use quotient_e2e::testbed::{AuditMark, KUBERNETES_RECOUNTS, Options, TestBed, eventually};
use quotient_invariants::Amounts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long the operator writes nothing when it is done. Statuses are reported every second here.
const REST: Duration = Duration::from_secs(2);

/// How many clusters are used at the same time: mostly they wait.
const LANES: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_comes_to_rest_where_simulate_says() -> anyhow::Result<()> {
    let examples = directories(&workspace_root().join("examples"))?;
    ensure!(!examples.is_empty(), "there is no example");
    let lane = |lane| check_in_turn(examples.iter().skip(lane).step_by(LANES));
    try_join_all((0..LANES).map(lane)).await.map(drop)
}

/// Plays examples one after the other, in a cluster of their own.
async fn check_in_turn(examples: impl Iterator<Item = &PathBuf>) -> anyhow::Result<()> {
    let options = Options { recounts: Some(KUBERNETES_RECOUNTS), ..Options::default() };
    let stage = Stage::set_on(options, &[]).await?;
    for example in examples {
        check(&stage, example).await.with_context(|| example.display().to_string())?;
    }
    stage.bed.stop().await
}

/// Plays an example, and once more if Kubernetes let in more pods than a quota allows.
async fn check(stage: &Stage, example: &Path) -> anyhow::Result<()> {
    let Err(difference) = play(stage, example).await? else { return take_away(stage, example).await };
    println!("{} is played again: {difference}", example.display());
    take_away(stage, example).await?;
    play(stage, example).await??;
    take_away(stage, example).await
}

/// Leaves an empty cluster: first the namespaces go with all that is in them, then the nodes, and what the operator remembers.
async fn take_away(stage: &Stage, example: &Path) -> anyhow::Result<()> {
    for file in entries(example)? {
        let file = file.to_str().context("the file's name is no text")?;
        let delete = ["delete", "--ignore-not-found", "--timeout=120s", "-f", file];
        stage.bed.kubectl(delete).await?;
    }
    let own = ["delete", "configmap/quotient-ledger", "lease/quotient-operator", "-n", SYSTEM_NAMESPACE];
    stage.bed.kubectl(own).await?;
    Ok(())
}

/// Whether the cluster comes to rest where simulate ends. An error of its own says that it could not be told, because Kubernetes
/// let in too many pods.
///
/// The quota controller counts the pods that it has seen, and writes that over what admission counted a moment before. In a run
/// on a busy machine a pod was let in, the quota rose 17 ms later, and the controller wrote that nothing was used.
async fn play(stage: &Stage, example: &Path) -> anyhow::Result<anyhow::Result<()>> {
    let empty = stage.bed.audit().mark()?;
    let simulation: Simulation = serde_json::from_value(stage.simulate(example).await?)?;
    ensure!(simulation.stable, "the simulation does not end");
    for file in entries(example)? {
        let file = file.to_str().context("the file's name is no text")?;
        stage.bed.kubectl(["apply", "-f", file]).await?;
        stage.bed.wait_until_usable().await?;
        until_quotas_are_in_force(&stage.bed).await?;
    }
    let workloads = Workloads::list(&stage.bed).await?;
    until_pods_run(&stage.bed, &workloads, &simulation).await?;
    let foretold = simulation.outcome(&workloads)?;
    let before = enforced_quotas(&stage.bed).await?;

    let start = stage.bed.audit().mark()?;
    let arguments = ["--status-interval-seconds", "1"];
    let operator = Operator::start_with(&stage.bed, &stage.programs.operator, &arguments).await?;
    let arrived = async || is_at(&stage.bed, &workloads, start, &foretold).await;
    if let Err(difference) = eventually("the cluster is where simulate ends", PATIENCE, arrived).await {
        let crowded = let_in_too_many(&stage.bed, &before).await?;
        operator.stop().await?;
        ensure!(!crowded.is_empty(), difference);
        return Ok(Err(difference.context(format!("more pods than its quota allows: {crowded:?}"))));
    }
    stage.until_quiet_for(REST).await?;
    arrived().await.context("it does not stay where simulate ends")?;
    if example.ends_with("fence") {
        stage.until_condition("speech", ConditionType::Starved, ("True", "Fenced")).await?;
    }
    operator.stop().await?;
    stage.promises_were_kept_since(empty)?;
    Ok(Ok(()))
}

/// Whether the cluster is where simulate ends, and everything that was decided has happened.
async fn is_at(
    bed: &TestBed,
    workloads: &Workloads,
    start: AuditMark,
    foretold: &Outcome,
) -> anyhow::Result<()> {
    let seen = seen(bed, workloads, start).await?;
    ensure!(seen == *foretold, "\n{seen:#?}\nexpected:\n{foretold:#?}");
    is_settled(bed).await
}

/// Where it ends, and which pods it cost.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// What each queue has, as [`numbers`] tells it.
    queues: BTreeMap<String, String>,
    /// By [`Workloads::counted`].
    evicted: Counts,
}

fn numbers([deserved, allocated, used, preempting]: [&Amounts; 4]) -> String {
    format!("deserved {deserved}; allocated {allocated}; used {used}; preempting {preempting}")
}

/// How many pods, by what they are of.
type Counts = BTreeMap<String, usize>;

/// What makes pods. Their names differ from cluster to cluster, and so from simulate's.
struct Workloads {
    /// `namespace/name`.
    makers: BTreeSet<String>,
    /// `namespace/name` of the pods without a controller.
    bare: BTreeSet<String>,
}

impl Workloads {
    async fn list(bed: &TestBed) -> anyhow::Result<Self> {
        let mut makers = named::<Deployment>(bed).await?;
        makers.extend(named::<ReplicaSet>(bed).await?);
        makers.extend(named::<StatefulSet>(bed).await?);
        makers.extend(named::<Job>(bed).await?);
        // Deployments make ReplicaSets, and those pods.
        let outermost = makers.into_iter().filter(|(_, is_made)| !is_made);
        let makers = outermost.map(|(name, _)| name).collect();
        let bare = named::<Pod>(bed).await?.into_iter().filter(|(_, is_made)| !is_made);
        Ok(Self { makers, bare: bare.map(|(name, _)| name).collect() })
    }

    /// The pods without a controller by their names, once for each time; the others only by who made them, whose name
    /// theirs begin with.
    fn counted(&self, pods: impl Iterator<Item = String>) -> anyhow::Result<Counts> {
        let mut counts = Counts::new();
        for pod in pods {
            let made_by =
                |maker: &&String| pod.strip_prefix(maker.as_str()).is_some_and(|rest| rest.starts_with('-'));
            let of = if self.bare.contains(&pod) {
                pod
            } else {
                let maker = self.makers.iter().filter(made_by).max_by_key(|maker| maker.len());
                format!("{}-*", maker.with_context(|| format!("who made {pod}?"))?)
            };
            let count = counts.entry(of).or_default();
            *count = count.saturating_add(1);
        }
        Ok(counts)
    }
}

/// The names of all objects of a kind, with their namespaces, and whether another object has made them.
async fn named<K>(bed: &TestBed) -> anyhow::Result<Vec<(String, bool)>>
where
    K: kube::Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let objects = Api::<K>::all(bed.client()).list_metadata(&ListParams::default()).await?;
    let named = objects.items.iter().map(|object| {
        let is_made = object.metadata.owner_references.iter().flatten().next().is_some();
        (full_name(&object.metadata), is_made)
    });
    Ok(named.collect())
}

fn full_name(metadata: &ObjectMeta) -> String {
    let text = |part: &Option<String>| part.clone().unwrap_or_default();
    format!("{}/{}", text(&metadata.namespace), text(&metadata.name))
}

/// What `simulate -o json` prints, as far as it is compared.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Simulation {
    /// The pods that workloads get before the first step.
    started_before: Vec<String>,
    steps: Vec<Step>,
    stable: bool,
}

#[derive(Deserialize)]
struct Step {
    queues: Vec<Value>,
    evictions: Vec<Value>,
}

impl Simulation {
    fn outcome(&self, workloads: &Workloads) -> anyhow::Result<Outcome> {
        let text = |object: &Value, field: &str| object[field].as_str().unwrap_or_default().to_owned();
        let evicted = self.steps.iter().flat_map(|step| &step.evictions).map(|gone| text(gone, "pod"));
        let last = self.steps.last().context("the simulation has no step")?;
        let told = |queue: &Value| {
            let amounts =
                ["/deserved", "/allocated", "/used", "/preempting"].map(|at| Amounts::at(queue, at));
            (text(queue, "queue"), numbers(amounts.each_ref()))
        };
        let queues = last.queues.iter().map(told).collect();
        Ok(Outcome { queues, evicted: workloads.counted(evicted)? })
    }
}

/// What the Queues say, those without a share left out, and the evictions that the API server granted.
async fn seen(bed: &TestBed, workloads: &Workloads, since: AuditMark) -> anyhow::Result<Outcome> {
    let views = queues(bed).await?.into_iter();
    let with_share = views.filter(|(_, view)| !view.conditions.contains_key("Stalled"));
    let queues = with_share.map(|(name, view)| {
        let told = numbers([&view.deserved, &view.allocated, &view.used, &view.preempting]);
        (name, told)
    });
    let writes = writes_of_operator(&bed.audit().events_since(since)?).into_iter();
    let evictions = writes.filter(|write| write.resource == "pods/eviction" && write.succeeded());
    let evicted = workloads.counted(evictions.map(|write| write.object))?;
    Ok(Outcome { queues: queues.collect(), evicted })
}

/// Whether the operator has said its last word: statuses are Ready, quotas in force, no pod on its way out.
async fn is_settled(bed: &TestBed) -> anyhow::Result<()> {
    let leaving = |pod: &Pod| pod.metadata.deletion_timestamp.is_some();
    ensure!(!all_pods(bed).await?.iter().any(leaving), "a pod is on its way out");
    let enforced = enforced_quotas(bed).await?;
    for (name, view) in queues(bed).await? {
        if view.conditions.contains_key("Stalled") {
            continue;
        }
        ensure!(view.conditions.contains_key("Ready"), "{name} is not Ready");
        if view.is_parent {
            continue;
        }
        let (namespace, _) = name.split_once('/').context("a Queue is in a namespace")?;
        let enforced = enforced.get(namespace).cloned().unwrap_or_default();
        ensure!(enforced == view.allocated, "{name} is allocated {}, enforced is {enforced}", view.allocated);
    }
    Ok(())
}

/// What admission goes by in every namespace with a quota of Quotient.
async fn enforced_quotas(bed: &TestBed) -> anyhow::Result<BTreeMap<String, Amounts>> {
    let quotas: Api<ResourceQuota> = Api::all(bed.client());
    let quotas = quotas.list(&ListParams::default()).await?.items.into_iter();
    let ours = quotas.filter(|quota| quota.metadata.name.as_deref() == Some("quotient"));
    ours.map(|quota| {
        let hard = quota.status.and_then(|status| status.hard).unwrap_or_default();
        Ok((quota.metadata.namespace.unwrap_or_default(), quota_amounts(&hard)?))
    })
    .collect()
}

/// The Queues whose pods request more than a quota that has not been lowered since `before`.
async fn let_in_too_many(bed: &TestBed, before: &BTreeMap<String, Amounts>) -> anyhow::Result<Vec<String>> {
    let now = enforced_quotas(bed).await?;
    let exceeds = |namespace: &str, used: &Amounts| {
        let [before, now] = [before, &now].map(|quotas| quotas.get(namespace).cloned().unwrap_or_default());
        before.less(&now).is_empty() && !used.less(&now).is_empty()
    };
    let leaves = queues(bed).await?.into_iter().filter(|(_, view)| !view.is_parent);
    let crowded = leaves.filter(|(name, view)| {
        name.split_once('/').is_some_and(|(namespace, _)| exceeds(namespace, &view.used))
    });
    Ok(crowded.map(|(name, _)| name).collect())
}

/// Waits until admission goes by every quota.
async fn until_quotas_are_in_force(bed: &TestBed) -> anyhow::Result<()> {
    let quotas: Api<ResourceQuota> = Api::all(bed.client());
    eventually("the quotas are in force", PATIENCE, async || {
        for quota in quotas.list(&ListParams::default()).await?.items {
            let wanted = quota.spec.and_then(|spec| spec.hard);
            let enforced = quota.status.and_then(|status| status.hard);
            ensure!(enforced == wanted, "{} is not", full_name(&quota.metadata));
        }
        Ok(())
    })
    .await
}

/// Waits until the workloads have the pods that simulate begins with, and every pod runs or has been told why it does
/// not get a node.
async fn until_pods_run(bed: &TestBed, workloads: &Workloads, simulation: &Simulation) -> anyhow::Result<()> {
    let expected = workloads.counted(simulation.started_before.iter().cloned())?;
    let waits = |pod: &Pod| {
        let status = pod.status.clone().unwrap_or_default();
        let refused = |condition: &PodCondition| {
            matches!(condition.reason.as_deref(), Some("Unschedulable" | "SchedulingGated"))
        };
        status.phase.as_deref() == Some("Pending") && !status.conditions.iter().flatten().any(refused)
    };
    eventually("the pods run as far as they can", PATIENCE, async || {
        let pods = all_pods(bed).await?;
        let waiting: Vec<_> = pods.iter().filter(|pod| waits(pod)).map(|pod| &pod.metadata.name).collect();
        ensure!(waiting.is_empty(), "{waiting:?} do not");
        let names = pods.iter().map(|pod| full_name(&pod.metadata));
        let made = workloads.counted(names.filter(|name| !workloads.bare.contains(name)))?;
        ensure!(made == expected, "{made:?} instead of {expected:?}");
        Ok(())
    })
    .await
}

async fn all_pods(bed: &TestBed) -> anyhow::Result<Vec<Pod>> {
    Ok(Api::<Pod>::all(bed.client()).list(&ListParams::default()).await?.items)
}

/// The directories in a directory, by name.
fn directories(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    Ok(entries(path)?.into_iter().filter(|entry| entry.is_dir()).collect())
}

/// What is in a directory, by name.
fn entries(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let listed = std::fs::read_dir(path).with_context(|| format!("listing {}", path.display()))?;
    let mut paths = listed.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
