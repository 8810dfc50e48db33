//! `release`: one namespace leaves Quotient, and none of its pods is evicted.

use std::time::{Duration, Instant};

use kube::api::Patch;
use quotient_crds::names::{QUOTA, SHARE_GATE};
use quotient_crds::{Admission, Queue};
use quotient_engine::names::Namespace;
use quotient_engine::snapshot::Pod;
use serde_json::json;

use super::{Inventory, is_gated};
use crate::Session;
use crate::commands::explain::show;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::{Kind, Object, decoded, goes_with_queue, is_ours};
use crate::output::{Explanation, Format, OutputArgs, Progress, counted, list, spaced, sum};
use crate::snapshot::Snapshot;
use crate::source::{Live, Scope, SourceArgs};

/// Which namespace.
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// The namespace.
    #[arg(value_name = "NAMESPACE")]
    namespace: String,

    /// Only say what would happen.
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    output: OutputArgs,

    /// Look at files or a snapshot instead of the cluster; nothing is changed then.
    #[command(flatten)]
    source: SourceArgs,
}

/// What a look at the namespace found.
#[derive(Debug)]
pub(crate) struct Release {
    /// The Queues to delete.
    queues: Vec<String>,
    /// Whether pods wait gated, or new ones will until the Queue is gone.
    pub(crate) has_gates: bool,
    /// What follows, and what has to be done before.
    pub(crate) explanation: Explanation,
}

/// How long garbage collection, which learns of a new kind within half a minute, and the removal of gates may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks, and deletes unless something is in the way.
pub(crate) async fn run(args: &ReleaseArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let format = args.output.output;
    let look = |snapshot: &Snapshot| -> Result<(Release, Outcome), CommandError> {
        let cluster = Cluster::of(snapshot, None)?;
        let release = release(&cluster, &args.namespace)?;
        let name = format!("namespace/{}", args.namespace);
        let outcome = show(&release.explanation, name, &cluster, format, session.screen)?;
        Ok((release, outcome))
    };
    if let Some(snapshot) = args.source.read_files(session.connection)? {
        return look(&snapshot).map(|(_, outcome)| outcome);
    }
    let live = Live::connect(session.connection).await?;
    let mut snapshot = live.snapshot(&Scope::of(KINDS, Some(&args.namespace))).await?;
    ClusterError::require(&snapshot.missing, &["queues", "pods", "resourcequotas"])?;
    snapshot.warn_of_missing();
    // Queues elsewhere may be child queues.
    live.add_all_queues(&mut snapshot).await?;
    let (release, outcome) = look(&snapshot)?;
    if outcome == Outcome::Finding {
        return Ok(outcome);
    }
    if args.dry_run {
        format.say("Nothing was changed (dry run).")?;
        return Ok(outcome);
    }
    delete(&live, &args.namespace, &release.queues, format).await?;
    let removed = if release.has_gates { remove_all(&live, &args.namespace).await? } else { 0 };
    if removed > 0 {
        let pods = counted(removed, "gated pod", "gated pods");
        format.say(&format!("{pods} let in: the scheduler places them now."))?;
    }
    format.say(&format!("Namespace {} is unmanaged: no quota {QUOTA} is left.", args.namespace))?;
    Ok(outcome)
}

/// What is looked at in the namespace.
const KINDS: &str =
    "queues queuejobs pods resourcequotas limitranges deployments replicasets statefulsets jobs";

async fn delete(live: &Live, namespace: &str, queues: &[String], format: Format) -> Result<(), CommandError> {
    for queue in queues {
        live.of(Kind::Queue.api(), Some(namespace)).delete(queue).await?;
        format.say(&format!("queue.quotient.dev/{queue} deleted"))?;
    }
    let _progress = Progress::begin("waiting until Kubernetes has deleted the quota");
    let began = Instant::now();
    while live.of(Kind::ResourceQuota.api(), Some(namespace)).get(QUOTA).await?.is_some() {
        if began.elapsed() >= PATIENCE {
            let seconds = PATIENCE.as_secs();
            return Err(CommandError::TimedOut(format!(
                "the quota {QUOTA} still exists after {seconds} s; look whether garbage collection works: kubectl -n {namespace} \
                 get resourcequota {QUOTA} -o yaml"
            )));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

/// Looks at a namespace that is to leave.
pub(crate) fn release(cluster: &Cluster, namespace: &str) -> Result<Release, CommandError> {
    let inventory = Inventory::of(cluster, Some(namespace));
    let queues = inventory.queues;
    let gated: usize = inventory.gated.values().sum();
    if queues.is_empty() && gated == 0 {
        return Err(format!("namespace {namespace} has no Queue: there is nothing to release").into());
    }
    let state = cluster.snapshot.namespaces.get(&Namespace::from(namespace));
    let pods = state.into_iter().flat_map(|state| &state.pods);
    let pods = pods.filter(|pod| pod.is_charged() && pod.node.is_some());
    let (pods, used) = (pods.clone().count(), sum(pods.map(Pod::requests)));
    let mut explanation = Explanation::of("Namespace", "", namespace);
    let act = match queues.as_slice() {
        [] => "let its gated pods in".to_owned(),
        [queue] => format!("delete Queue {queue}"),
        several => format!("delete Queues {}", list(several)),
    };
    explanation.headline = format!("Release of namespace {namespace}: {act}");
    if pods > 0 {
        let (pods, used) = (counted(pods, "pod runs", "pods run"), spaced(&used));
        explanation.step(format!("{pods} on. The capacity that queues share shrinks by {used}."));
    }
    explanation
        .step("No quota rejects new pods of the namespace any more, and no pod is evicted for a share.");
    if inventory.owned > 0 {
        let owned = counted(inventory.owned, "quota or LimitRange", "quotas and LimitRanges");
        explanation.step(format!("Kubernetes deletes what the Queue owns: {owned}."));
    }
    if inventory.queue_jobs > 0 {
        let jobs = counted(inventory.queue_jobs, "QueueJob stays", "QueueJobs stay");
        explanation
            .step(format!("{jobs}. Those that run go on; those that wait do not start without a Queue."));
    }
    if gated > 0 {
        let pods = counted(gated, "gated pod is", "gated pods are");
        explanation.step(format!("{pods} let in at once, whatever room there is."));
    }
    let children = queues.iter().filter_map(|queue| children(cluster, namespace, queue));
    let foreign = foreign_quota(cluster, namespace);
    for obstacle in inventory.leftovers.into_iter().chain(foreign).chain(children) {
        explanation.check(false, obstacle);
        explanation.needs_a_person = true;
    }
    let own = cluster.objects.iter().filter_map(Object::get);
    let own: Vec<&Queue> =
        own.filter(|queue: &&Queue| queue.metadata.namespace.as_deref() == Some(namespace)).collect();
    let are_hidden = cluster.missing.iter().any(|missing| missing.resource == Kind::Queue.api().resource());
    if are_hidden && own.iter().any(|queue| queue.spec.children.is_some()) {
        explanation.step(
            "Child queues in other namespaces would lose their share. You may not list Queues there, so they are not known.",
        );
    }
    let has_gates = gated > 0 || own.iter().any(|queue| queue.spec.admission == Admission::Gate);
    Ok(Release { queues, has_gates, explanation })
}

/// A quota of the name that another program wrote. Nothing deletes it, and it goes on limiting the namespace.
fn foreign_quota(cluster: &Cluster, namespace: &str) -> Option<String> {
    let mut here = cluster.objects.iter().filter(|object| object.namespace() == namespace);
    let is_foreign = here.any(|object| {
        let is_quota = object.kind() == Kind::ResourceQuota && object.name() == QUOTA;
        is_quota && !goes_with_queue(object.metadata()) && !is_ours(object.metadata())
    });
    is_foreign.then(|| {
        format!(
            "ResourceQuota {QUOTA} would stay, because another program wrote it. First: give it another name, or delete it"
        )
    })
}

/// Child queues of other namespaces lose their share with their parent. Those of this one are deleted with it.
fn children(cluster: &Cluster, namespace: &str, parent: &str) -> Option<String> {
    let names = cluster.objects.iter().filter_map(|object| {
        let Object::Queue(queue) = object else { return None };
        let reference = queue.spec.parent_ref.as_ref()?;
        let own = queue.metadata.namespace.as_deref().unwrap_or_default();
        let is_child = reference.name == parent && reference.namespace.as_deref() == Some(namespace);
        (is_child && own != namespace)
            .then(|| format!("{own}/{}", queue.metadata.name.as_deref().unwrap_or_default()))
    });
    let names = list(names);
    (!names.is_empty()).then(|| {
        format!(
            "Queue {parent} is the parent of {names}: without it they have no share. First: give them another parentRef"
        )
    })
}

/// How long the API server may go on gating new pods after the Queue is gone: it learns of that by a watch.
const SETTLED: Duration = Duration::from_secs(1);

/// Removes the gate of every pod of `namespace`, and returns how many. Pods that are created meanwhile are among them.
async fn remove_all(live: &Live, namespace: &str) -> Result<usize, CommandError> {
    let began = Instant::now();
    let (mut removed, mut last) = (0_usize, began);
    while last.elapsed() < SETTLED {
        for pod in gated(live, namespace).await? {
            remove(live, namespace, &pod).await?;
            removed = removed.saturating_add(1);
            last = Instant::now();
        }
        if began.elapsed() >= PATIENCE {
            let seconds = PATIENCE.as_secs();
            return Err(CommandError::TimedOut(format!(
                "pods of namespace {namespace} are still being gated after {seconds} s; look whether it has a Queue: kubectl -n \
                 {namespace} get queues.quotient.dev"
            )));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(removed)
}

/// The names of the pods that have the gate.
async fn gated(live: &Live, namespace: &str) -> Result<Vec<String>, ClusterError> {
    let pods = live.of(Kind::Pod.api(), Some(namespace)).list().await?;
    let gated = pods.iter().filter_map(decoded).filter(is_gated);
    Ok(gated.filter_map(|pod| pod.metadata.name).collect())
}

/// Takes the gate from the list by its name. A pod that is gone meanwhile needs nothing any more.
async fn remove(live: &Live, namespace: &str, pod: &str) -> Result<(), ClusterError> {
    let patch = json!({"spec": {"schedulingGates": [{"$patch": "delete", "name": SHARE_GATE}]}});
    match live.of(Kind::Pod.api(), Some(namespace)).patch(pod, &Patch::Strategic(&patch)).await {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}
