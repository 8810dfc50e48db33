//! `release`: one namespace leaves Quotient, and none of its pods is evicted.

use std::time::{Duration, Instant};

use quotient_crds::names::QUOTA;
use quotient_engine::amounts::Amounts;
use quotient_engine::names::Namespace;

use super::{Inventory, Leftover, gates};
use crate::exit::{CommandError, Outcome};
use crate::manifests::{Cluster, Object};
use crate::output::{Progress, Screen, counted, hanging, print};
use crate::source::{ConnectionArgs, Live, Scope, Selection, SourceArgs, kind};

/// Which namespace.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct ReleaseArgs {
    /// The namespace.
    #[arg(value_name = "NAMESPACE")]
    namespace: String,

    /// Only say what would happen.
    #[arg(long)]
    dry_run: bool,

    /// Look at files or a snapshot instead of the cluster; nothing is changed then.
    #[command(flatten)]
    source: SourceArgs,
}

const ABOUT: &str = "\
Take one namespace out of Quotient: delete its Queues, after a look whether that is safe.

Kubernetes then deletes the quota and the LimitRange \"quotient\", because the Queue owns them. Pods run on; none is evicted. \
Pods that wait gated are let in, also while the operator is down. \
The command refuses where something would stay behind or other queues would lose their share, and says what to do first. You \
need the verb delete on queues.quotient.dev, and for gated pods the verbs share on queues.quotient.dev and patch on pods.";

const EXAMPLES: &str = "\
Examples:
  # What would happen?
  kubectl quotient release team-a --dry-run

  # Do it
  kubectl quotient release team-a";

/// What a look at the namespace found.
#[derive(Debug)]
pub(crate) struct Release {
    /// The Queues to delete.
    queues: Vec<String>,
    /// What has to be done before, a sentence each.
    pub(crate) obstacles: Vec<String>,
    /// How many pods wait gated.
    gated: usize,
    /// What follows, a sentence each.
    effects: Vec<String>,
}

/// How long garbage collection may take: it learns of a new kind within half a minute.
const PATIENCE: Duration = Duration::from_secs(120);

/// Looks, and deletes unless something is in the way.
pub(crate) async fn run(
    args: &ReleaseArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    if let Some(snapshot) = args.source.read_files()? {
        let release = release(&Cluster::of(&snapshot, None)?, &args.namespace)?;
        print(&release.text(&args.namespace, screen)).map_err(anyhow::Error::from)?;
        return Ok(Outcome::of(!release.obstacles.is_empty()));
    }
    let live = Live::connect(connection).await?;
    let mut snapshot = live.snapshot(&Scope::of(&KINDS, Some(&args.namespace))).await?;
    if let Ok(others) = live.list(kind("queues"), None, &Selection::default()).await {
        snapshot.entries.retain(|entry| entry.value.get("kind") != Some(&"Queue".into()));
        snapshot.add(others);
    }
    let release = release(&Cluster::of(&snapshot, None)?, &args.namespace)?;
    print(&release.text(&args.namespace, screen)).map_err(anyhow::Error::from)?;
    if !release.obstacles.is_empty() {
        return Ok(Outcome::Finding);
    }
    if args.dry_run {
        print("Nothing was changed (dry run).\n").map_err(anyhow::Error::from)?;
        return Ok(Outcome::Fine);
    }
    delete(&live, &args.namespace, &release.queues).await?;
    if release.gated > 0 {
        let removed = gates::remove_all(&live, &args.namespace).await?;
        let pods = counted(removed, "gated pod", "gated pods");
        print(&format!("{pods} let in: the scheduler places them now.\n")).map_err(anyhow::Error::from)?;
    }
    Ok(Outcome::Fine)
}

/// What is looked at in the namespace.
const KINDS: [&str; 9] = [
    "queues",
    "queuejobs",
    "pods",
    "resourcequotas",
    "limitranges",
    "deployments",
    "replicasets",
    "statefulsets",
    "jobs",
];

async fn delete(live: &Live, namespace: &str, queues: &[String]) -> Result<Outcome, CommandError> {
    for queue in queues {
        live.delete(kind("queues"), namespace, queue).await?;
        print(&format!("queue.quotient.dev/{queue} deleted\n")).map_err(anyhow::Error::from)?;
    }
    let _progress = Progress::begin("waiting until Kubernetes has deleted the quota");
    let began = Instant::now();
    while live.get(kind("resourcequotas"), Some(namespace), QUOTA).await?.is_some() {
        if began.elapsed() >= PATIENCE {
            let seconds = PATIENCE.as_secs();
            return Err(CommandError::TimedOut(format!(
                "the quota {QUOTA} still exists after {seconds} s; look whether garbage collection works: kubectl -n {namespace} \
                 get resourcequota {QUOTA} -o yaml"
            )));
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    print(&format!("Namespace {namespace} is unmanaged: no quota {QUOTA} is left.\n"))
        .map_err(anyhow::Error::from)?;
    Ok(Outcome::Fine)
}

/// Looks at a namespace that is to leave.
pub(crate) fn release(cluster: &Cluster, namespace: &str) -> Result<Release, CommandError> {
    let inventory = Inventory::of(cluster, Some(namespace));
    let name = |queue: &quotient_crds::Queue| queue.metadata.name.clone().unwrap_or_default();
    let queues: Vec<String> = inventory.queues.iter().map(|queue| name(queue)).collect();
    let gated = inventory.gated.values().sum();
    if queues.is_empty() && gated == 0 {
        return Err(CommandError::Usage(format!(
            "namespace {namespace} has no Queue: there is nothing to release"
        )));
    }
    let mut obstacles: Vec<String> = inventory.leftovers.iter().map(obstacle).collect();
    obstacles.extend(queues.iter().filter_map(|queue| children(cluster, namespace, queue)));
    let state = cluster.snapshot.namespaces.get(&Namespace::from(namespace));
    let mut used = Amounts::new();
    let mut pods = 0_usize;
    for pod in state.into_iter().flat_map(|state| &state.pods).filter(|pod| pod.is_charged()) {
        used.add_all(pod.requests());
        pods = pods.saturating_add(1);
    }
    let mut effects = vec![
        format!(
            "{} run on. What they use ({used}) is taken from the capacity that queues share.",
            counted(pods, "pod", "pods")
        ),
        "New pods of the namespace are not rejected by a quota any more, and no pod is evicted for a share."
            .to_owned(),
        format!(
            "Kubernetes deletes what the Queue owns: {}.",
            counted(inventory.owned, "quota or LimitRange", "quotas and LimitRanges")
        ),
    ];
    if inventory.queue_jobs > 0 {
        effects.push(format!(
            "{} QueueJobs stay. Those that run go on; those that wait do not start without a Queue.",
            inventory.queue_jobs
        ));
    }
    if gated > 0 {
        effects.push(format!(
            "{} let in at once, whatever room there is.",
            counted(gated, "gated pod is", "gated pods are")
        ));
    }
    Ok(Release { queues, obstacles, gated, effects })
}

fn obstacle(leftover: &Leftover) -> String {
    let Leftover { object, why, fix, .. } = leftover;
    format!("{object} would stay, because {why}. First: {fix}")
}

/// Child queues lose their share with their parent.
fn children(cluster: &Cluster, namespace: &str, parent: &str) -> Option<String> {
    let names = cluster.objects.iter().filter_map(|object| {
        let Object::Queue(queue) = object else { return None };
        let reference = queue.spec.parent_ref.as_ref()?;
        let own = queue.metadata.namespace.as_deref().unwrap_or_default();
        let is_child = reference.name == parent && reference.namespace.as_deref().unwrap_or(own) == namespace;
        is_child.then(|| format!("{own}/{}", queue.metadata.name.as_deref().unwrap_or_default()))
    });
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "Queue {parent} is the parent of {}: without it they have no share. First: give them another parentRef",
            names.join(", ")
        )
    })
}

impl Release {
    /// What is found, for people.
    pub(crate) fn text(&self, namespace: &str, screen: Screen) -> String {
        let mut lines =
            vec![format!("Release of namespace {namespace}: delete Queue {}", self.queues.join(", "))];
        let mut list = |mark: &str, texts: &[String]| {
            let indent = mark.chars().count().saturating_add(2);
            for text in texts {
                lines.extend(hanging(&format!(" {mark} "), indent, text, screen.width));
            }
        };
        list(screen.glyphs.next, &self.effects);
        list(screen.glyphs.bad, &self.obstacles);
        lines.push(String::new());
        lines.join("\n")
    }
}
