//! `status`: which queue has, uses and lacks what.

mod findings;
mod overview;
mod report;

use std::time::{Duration, Instant};

use futures::future::join_all;
use quotient_engine::amounts::Resource;
use serde_json::Value;

use crate::Session;
use crate::commands::simulate::at_rest;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::{Kind, text as field};
use crate::output::{
    Answer, Format, INTERVAL, OutputArgs, Screen, Watch, columns, document, joined, note, print,
};
use crate::queues::{QueueView, SelectorArgs, resource_names, select, views};
use crate::snapshot::{Entry, Snapshot};
use crate::source::{ConnectionArgs, Live, Scope, SourceArgs, free_beside};

pub(crate) use findings::{Finding, findings};
use overview::{cells, header};
pub(crate) use report::Report;

/// Which queues, and how long.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// The queues to show, by name or NAMESPACE/NAME; all if left out.
    #[arg(value_name = "QUEUE")]
    pub(crate) queues: Vec<String>,

    /// Show the queues of all namespaces, although -n names one.
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    #[command(flatten)]
    pub(crate) selector: SelectorArgs,

    /// Show one resource alone, such as cpu, memory or gpu.
    #[arg(short = 'r', long, value_name = "RESOURCE")]
    pub(crate) resource: Option<String>,

    /// Print again whenever something changes, until you interrupt it.
    #[arg(short = 'w', long)]
    pub(crate) watch: bool,

    /// Wait until no queue is starved or stalled; exit code 4 if that takes longer than --timeout.
    #[arg(long)]
    pub(crate) wait: bool,

    /// How many seconds --wait waits.
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text).parse::<u64>();
    number.map(Duration::from_secs).map_err(|_| "write a number of seconds, such as 300".to_owned())
}

/// The queues of one instant.
pub(crate) struct Status {
    pub(crate) cluster: Cluster,
    /// Those that are shown.
    pub(crate) views: Vec<QueueView>,
    /// All of them, as far as they were read.
    all: Vec<QueueView>,
    /// The resource that is asked about.
    pub(crate) selected: Option<Resource>,
}

impl Status {
    pub(crate) fn of(
        snapshot: &Snapshot,
        args: &StatusArgs,
        connection: &ConnectionArgs,
    ) -> Result<Self, CommandError> {
        let cluster = at_rest(Cluster::of(snapshot, None)?);
        let all = views(&cluster);
        let named = args.resource.as_ref().map(|name| select(name, &resource_names(&all)));
        let selected = named.transpose()?;
        if let Some(unknown) =
            args.queues.iter().find(|wanted| !all.iter().any(|view| view.is_called(wanted)))
        {
            return Err(format!("there is no Queue {unknown}").into());
        }
        let is_wanted = |view: &&QueueView| {
            let in_namespace = args.all_namespaces
                || connection.namespace.as_ref().is_none_or(|wanted| view.name.namespace.as_str() == wanted);
            in_namespace
                && args.selector.selects(view)
                && (args.queues.is_empty() || args.queues.iter().any(|wanted| view.is_called(wanted)))
        };
        let views = all.iter().filter(is_wanted).cloned().collect();
        Ok(Self { cluster, views, all, selected })
    }
}

/// Reads and prints; again and again if that is asked for.
pub(crate) async fn run(args: &StatusArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let Session { connection, screen } = session;
    let began = Instant::now();
    let format = args.output.output;
    let mut watch = args.watch.then(Watch::default);
    let mut is_first = true;
    loop {
        let snapshot = read(args, connection).await?;
        let mut status = Status::of(&snapshot, args, connection)?;
        free_beside(snapshot);
        if std::mem::take(&mut is_first) {
            status.cluster = status.cluster.warned();
        }
        let found = findings(&status);
        let outcome = Outcome::of(found.iter().any(|finding| finding.is_serious));
        let text = text(&status, &found, format, screen)?;
        let is_settled = !found.iter().any(|finding| finding.is_waited_for);
        let is_late = args.wait && began.elapsed() >= args.timeout;
        let is_over = if args.wait { is_settled || is_late } else { !args.watch } || !args.source.is_live();
        match &mut watch {
            // The first line tells how long ago the Lease was renewed.
            Some(watch) => {
                let table = table(&status, &found, false, screen);
                if !watch.show(&text, table.lines().skip(1).collect())? {
                    return Ok(outcome);
                }
            }
            None if is_over => {
                print(&text)?;
            }
            None => {}
        }
        if is_late && !is_settled {
            let seconds = args.timeout.as_secs();
            return Err(CommandError::TimedOut(format!(
                "queues are still starved or stalled after {seconds} s"
            )));
        }
        free_beside(status);
        if is_over {
            return Ok(outcome);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// What is read of a cluster.
const KINDS: &str = "queues nodes";

/// The Queues and the nodes; of a cluster little more, so that large ones answer as fast.
async fn read(args: &StatusArgs, connection: &ConnectionArgs) -> Result<Snapshot, CommandError> {
    if let Some(snapshot) = args.source.read_files(connection)? {
        return Ok(snapshot);
    }
    let live = Live::connect(connection).await?;
    let of_one = connection.namespace.as_deref().filter(|_| !args.all_namespaces);
    let mut snapshot = live.snapshot(&Scope::of(KINDS, of_one)).await?;
    ClusterError::require_kinds(&snapshot)?;
    if ClusterError::require(&snapshot.missing, &["queues"]).is_err()
        && of_one.is_none()
        && !args.all_namespaces
    {
        let namespace = &live.namespace;
        note(&format!("You may not list Queues in all namespaces; these are of namespace {namespace}."));
        snapshot = live.snapshot(&Scope::of(KINDS, Some(&live.namespace))).await?;
    }
    ClusterError::require(&snapshot.missing, &["queues"])?;
    add_replica_sets(&live, &mut snapshot).await?;
    Ok(snapshot)
}

/// The most ReplicaSets that are asked for.
const MOST_REPLICA_SETS: usize = 16;

/// ReplicaSets with pods that cannot start: they name the Deployment that people know. Without the right, findings name them.
async fn add_replica_sets(live: &Live, snapshot: &mut Snapshot) -> Result<(), CommandError> {
    let mut wanted = Vec::new();
    for queue in snapshot.entries.iter().filter_map(Entry::json) {
        let unmet = queue.pointer("/status/unmet").and_then(Value::as_array).into_iter().flatten();
        for unmet in unmet.filter(|unmet| field(unmet, "/kind") == "ReplicaSet") {
            wanted.push((field(queue, "/metadata/namespace").to_owned(), field(unmet, "/name").to_owned()));
        }
    }
    wanted.truncate(MOST_REPLICA_SETS);
    let asked =
        wanted.iter().map(|(namespace, name)| live.of(Kind::ReplicaSet.api(), Some(namespace)).get(name));
    for found in join_all(asked).await {
        match found {
            Ok(found) => snapshot.add(found),
            Err(error) if error.is_forbidden() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The status as it is printed.
pub(crate) fn text(
    status: &Status,
    found: &[Finding],
    format: Format,
    screen: Screen,
) -> Result<String, CommandError> {
    let names = status.views.iter().map(|view| format!("queue.quotient.dev/{}", view.name));
    let answer = Answer {
        table: &|is_wide| table(status, found, is_wide, screen),
        document: || {
            document("Status", status.cluster.snapshot.now, &status.cluster.source, Report::of(status, found))
        },
        names: names.collect(),
    };
    Ok(answer.text(format)?)
}

fn table(status: &Status, found: &[Finding], is_wide: bool, screen: Screen) -> String {
    let mut lines = header(status, screen);
    lines.push(String::new());
    if status.views.is_empty() {
        lines.push("There is no Queue. Create one: kubectl quotient init --from-usage".to_owned());
    } else {
        lines.extend(columns(&cells(status, is_wide, screen), screen.style));
    }
    if !found.is_empty() {
        lines.push(String::new());
        lines.extend(findings::lines(found, screen));
    }
    joined(lines)
}
