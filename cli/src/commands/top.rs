//! `top`: which queue, namespace or workload uses most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use clap::ValueEnum;
use quotient_engine::amounts::{Amounts, Resource};
use quotient_engine::names::{Namespace, OwnerUid};
use quotient_engine::snapshot::{Pod, Workload};

use crate::Session;
use crate::commands::simulate::at_rest;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{
    Answer, Cell, Color, INTERVAL, OutputArgs, Screen, Watch, all_quantities, document, joined, listing,
    report, short, sum,
};
use crate::queues::{QueueView, SelectorArgs, amounts, governing, resource_names, select, views};
use crate::source::{Scope, SourceArgs};

/// What to list, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct TopArgs {
    /// What to list.
    #[arg(value_enum, default_value_t = What::Queues)]
    what: What,

    #[command(flatten)]
    selector: SelectorArgs,

    /// Compare by one resource, such as cpu, memory or gpu; else by the largest part of the cluster.
    #[arg(short = 'r', long, value_name = "RESOURCE")]
    resource: Option<String>,

    /// What to sort by.
    #[arg(long, value_enum, default_value_t = Sort::Used)]
    sort: Sort,

    /// How many rows; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    limit: usize,

    /// Print again whenever something changes, until you interrupt it.
    #[arg(short = 'w', long)]
    watch: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    source: SourceArgs,
}

/// What to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Queues, with what they borrow and lend.
    Queues,
    /// Namespaces, also those without a Queue.
    Namespaces,
    /// Workloads: Deployments, Jobs, ….
    Workloads,
}

/// What to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// What is used, most first.
    Used,
    /// What is used above the deserved share of the queue, most first.
    Over,
}

impl What {
    /// What is read of a cluster.
    const fn kinds(self) -> &'static str {
        match self {
            Self::Queues => "queues nodes",
            Self::Namespaces => "queues nodes namespaces pods",
            Self::Workloads => "queues nodes namespaces pods replicasets jobs statefulsets daemonsets",
        }
    }
}

report! {
    /// For programs.
    pub(crate) struct Report(lines: &[Line]) {
        rows: Vec<Row> = lines.iter().map(Row::of).collect(),
    }

    /// A queue, a namespace or a workload.
    struct Row(line: &Line) {
        name: String = line.name.clone(),
        namespace: String = line.namespace.clone(),
        /// The queue that governs it; none if it is unmanaged.
        queue: Option<String> = line.queue.clone(),
        pods: usize = line.pods,
        used: BTreeMap<String, String> = all_quantities(&line.used),
        deserved: BTreeMap<String, String> = all_quantities(&line.deserved),
        over: BTreeMap<String, String> = all_quantities(&line.over),
        borrowed: BTreeMap<String, String> = all_quantities(&line.borrowed),
        lent: BTreeMap<String, String> = all_quantities(&line.lent),
    }
}

/// Reads, sorts and prints; again and again if that is asked for.
pub(crate) async fn run(args: &TopArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let namespace = session.connection.namespace.as_deref();
    let scope = Scope::of(args.what.kinds(), namespace);
    let mut watch = Watch::default();
    let mut is_first = true;
    loop {
        let snapshot = args.source.read(session.connection, &scope, &["queues", "pods"]).await?;
        if args.what == What::Queues {
            ClusterError::require_kinds(&snapshot)?;
        }
        let mut cluster = at_rest(Cluster::of(&snapshot, None)?);
        if std::mem::take(&mut is_first) {
            snapshot.warn_of_missing();
            cluster = cluster.warned();
        }
        let (rows, selected) = top(&cluster, args, namespace)?;
        let table = || text(&rows, args.what, selected.as_ref(), session.screen);
        let answer = Answer {
            table: &|_| table(),
            document: || document("Top", cluster.snapshot.now, &cluster.source, Report::of(&rows)),
            names: rows.iter().map(|row| row.name.clone()).collect(),
        };
        if !args.watch {
            answer.print(args.output.output)?;
            return Ok(Outcome::Fine);
        }
        let is_read = watch.show(&answer.text(args.output.output)?, table())?;
        if !is_read || !args.source.is_live() {
            return Ok(Outcome::Fine);
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The rows, and the resource that is asked about.
pub(crate) fn top(
    cluster: &Cluster,
    args: &TopArgs,
    namespace: Option<&str>,
) -> Result<(Vec<Line>, Option<Resource>), CommandError> {
    let mut views = views(cluster);
    views.retain(|view| args.selector.selects(view));
    let is_wanted = |name: &str| namespace.is_none_or(|wanted| wanted == name);
    let mut rows = match args.what {
        What::Queues => of_queues(&views),
        What::Namespaces => of_namespaces(cluster, &views),
        What::Workloads => of_workloads(cluster, &views),
    };
    let is_selected = |row: &Line| args.selector.text().is_empty() || row.queue.is_some();
    rows.retain(|row| is_wanted(&row.namespace) && is_selected(row));
    let mut known: BTreeSet<Resource> = resource_names(&views).into_iter().collect();
    known.extend(rows.iter().flat_map(|row| row.used.resources().cloned()));
    let known: Vec<Resource> = known.into_iter().collect();
    let selected = args.resource.as_ref().map(|name| select(name, &known)).transpose()?;
    sort(&mut rows, args.sort, selected.as_ref(), cluster);
    if args.limit > 0 {
        rows.truncate(args.limit);
    }
    Ok((rows, selected))
}

/// The table.
pub(crate) fn text(rows: &[Line], what: What, selected: Option<&Resource>, screen: Screen) -> String {
    let names: &[&str] = match what {
        What::Queues => &["QUEUE", "PODS", "USED", "DESERVED", "OVER", "BORROWED", "LENT"],
        What::Namespaces => &["NAMESPACE", "QUEUE", "PODS", "USED"],
        What::Workloads => &["WORKLOAD", "NAMESPACE", "QUEUE", "PODS", "USED"],
    };
    joined(listing(names, rows.iter().map(|row| row.cells(what, selected)), screen.style))
}

/// A queue, a namespace or a workload, as it is sorted.
#[derive(Debug, Default)]
pub(crate) struct Line {
    name: String,
    namespace: String,
    /// None if no Queue that is looked at governs it.
    queue: Option<String>,
    pods: usize,
    used: Amounts,
    deserved: Amounts,
    /// What its queue uses above its deserved share.
    over: Amounts,
    borrowed: Amounts,
    lent: Amounts,
}

impl Line {
    fn new(name: String, namespace: &str, queue: Option<&QueueView>) -> Self {
        Self {
            name,
            namespace: namespace.to_owned(),
            queue: queue.map(|view| view.name.in_words()),
            over: queue.map(|view| view.used().less(&view.deserved())).unwrap_or_default(),
            ..Self::default()
        }
    }

    fn add(&mut self, pod: &Pod) {
        self.pods = self.pods.saturating_add(1);
        self.used.add_all(pod.requests());
    }

    fn cells(&self, what: What, selected: Option<&Resource>) -> Vec<Cell> {
        let amount = |amounts: &Amounts| Cell::from(short(amounts, selected));
        let queue = match &self.queue {
            Some(queue) => Cell::from(queue),
            None => Cell::new("- (unmanaged)", Color::Notice),
        };
        let mut cells = vec![Cell::from(&self.name)];
        match what {
            What::Queues => {}
            What::Namespaces => cells.push(queue),
            What::Workloads => cells.extend([Cell::from(&self.namespace), queue]),
        }
        cells.extend([self.pods.to_string().into(), amount(&self.used)]);
        if what == What::Queues {
            cells.extend([&self.deserved, &self.over, &self.borrowed, &self.lent].map(amount));
        }
        cells
    }
}

/// The leaf queues.
fn of_queues(views: &[QueueView]) -> Vec<Line> {
    let leaves = views.iter().filter(|view| !view.is_parent());
    leaves
        .map(|view| {
            let status = &view.status;
            let pods = status.pods.unwrap_or_default();
            let pods = pods.running.saturating_add(pods.pending).saturating_add(pods.terminating);
            Line {
                pods: usize::try_from(pods).unwrap_or_default(),
                borrowed: amounts(status.borrowed.as_ref()),
                lent: amounts(status.lent.as_ref()),
                used: view.used(),
                deserved: view.deserved(),
                ..Line::new(view.name.in_words(), view.name.namespace.as_str(), Some(view))
            }
        })
        .collect()
}

/// The namespaces with pods.
fn of_namespaces(cluster: &Cluster, views: &[QueueView]) -> Vec<Line> {
    grouped(cluster, views, |namespace, _| namespace.to_string())
}

/// The workloads that people know: the Deployment rather than its ReplicaSets; bare pods by themselves.
fn of_workloads(cluster: &Cluster, views: &[QueueView]) -> Vec<Line> {
    let owners = cluster.snapshot.namespaces.values().flat_map(|state| &state.owners);
    let controlled = owners.filter_map(|owner| Some((&owner.uid, owner.controller.as_deref()?)));
    let controllers: BTreeMap<&OwnerUid, &Workload> = controlled.collect();
    grouped(cluster, views, |_, pod| match &pod.metadata.owner {
        None => format!("Pod {}", pod.name),
        Some(owner) => {
            let workload = controllers.get(&owner.uid).copied().unwrap_or(owner);
            format!("{} {}", workload.kind, workload.name)
        }
    })
}

/// A row for all pods of a namespace that have the same name there.
fn grouped(
    cluster: &Cluster,
    views: &[QueueView],
    name_of: impl Fn(&Namespace, &Pod) -> String,
) -> Vec<Line> {
    let mut rows = Vec::new();
    for (namespace, state) in &cluster.snapshot.namespaces {
        let view = governing(views, namespace.as_str());
        let mut here: BTreeMap<String, Line> = BTreeMap::new();
        for pod in state.pods.iter().filter(|pod| pod.is_charged()) {
            let name = name_of(namespace, pod);
            let row =
                here.entry(name).or_insert_with_key(|name| Line::new(name.clone(), namespace.as_str(), view));
            row.add(pod);
        }
        rows.extend(here.into_values());
    }
    rows
}

/// Most first; equals by what they use, and then by name.
fn sort(rows: &mut [Line], by: Sort, selected: Option<&Resource>, cluster: &Cluster) {
    let capacity = sum(cluster.snapshot.nodes.values().map(|node| &node.allocatable));
    let size = |amounts: &Amounts| match selected {
        Some(selected) => amounts.get(selected).units(),
        None => amounts
            .iter()
            .map(|(resource, amount)| part(amount.units(), resource, &capacity))
            .max()
            .unwrap_or(0),
    };
    rows.sort_by_cached_key(|row| {
        let over = match by {
            Sort::Used => 0,
            Sort::Over => size(&row.over),
        };
        (Reverse((over, size(&row.used))), row.namespace.clone(), row.name.clone())
    });
}

/// Millionths of the cluster; of what the cluster does not have, all of it.
fn part(units: i128, resource: &Resource, capacity: &Amounts) -> i128 {
    units.saturating_mul(1_000_000).checked_div(capacity.get(resource).units()).unwrap_or(1_000_000)
}
