//! `top`: which queue, namespace or workload uses most.

mod rows;

use clap::ValueEnum;
use serde::Serialize;

use crate::Session;
use crate::commands::simulate::at_rest;
use crate::exit::{ClusterError, CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, INTERVAL, OutputArgs, Screen, Watch, columns, document, joined, titles};
use crate::queues::{Selected, SelectorArgs, resource_names, select, views};
use crate::source::{Scope, SourceArgs};

use rows::{Row, of_namespaces, of_queues, of_workloads};

/// What to list, and how.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// What to list.
    #[arg(value_enum)]
    pub(super) what: What,

    #[command(flatten)]
    pub(super) selector: SelectorArgs,

    /// Compare by one resource, such as cpu, memory or gpu; else by the largest part of the cluster.
    #[arg(short = 'r', long, value_name = "RESOURCE")]
    pub(super) resource: Option<String>,

    /// What to sort by.
    #[arg(long, value_enum, default_value_t = Sort::Used)]
    pub(super) sort: Sort,

    /// How many rows; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(super) limit: usize,

    /// Print again whenever something changes, until you interrupt it.
    #[arg(short = 'w', long)]
    pub(super) watch: bool,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) source: SourceArgs,
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
    /// The name.
    Name,
}

const ABOUT: &str = "\
List which queues, namespaces or workloads use most. Pods count as their quota counts them: by requests, until they are gone.

Of a cluster the command reads Queues and nodes; for namespaces also pods, and for workloads also what creates them. -n bounds it to \
one namespace.";

const EXAMPLES: &str = "\
Examples:
  # Which queues are above their shares?
  kubectl quotient top queues --sort over

  # The same, live
  kubectl quotient top queues --sort over -w

  # Which namespaces use GPUs, with or without a Queue?
  kubectl quotient top namespaces -r gpu

  # What in this team?
  kubectl quotient top workloads -n ml-train";

impl What {
    /// What is read of a cluster.
    pub(super) const fn kinds(self) -> &'static str {
        match self {
            Self::Queues => "queues nodes",
            Self::Namespaces => "queues nodes namespaces pods",
            Self::Workloads => {
                "queues nodes namespaces pods replicasets jobs deployments statefulsets daemonsets"
            }
        }
    }
}

/// For programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report<'a> {
    rows: &'a [Row],
}

/// Reads, sorts and prints; again and again if that is asked for.
pub(crate) async fn run(args: &TopArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let Session { connection, screen } = session;
    let scope = Scope::of(args.what.kinds(), connection.namespace.as_deref());
    let mut watch = Watch::default();
    let mut is_first = true;
    loop {
        let snapshot = args.source.read(connection, &scope).await?;
        if args.source.is_live() {
            ClusterError::require(&snapshot.missing, &["queues", "pods"])?;
        }
        let mut cluster = at_rest(Cluster::of(&snapshot, None)?);
        if std::mem::take(&mut is_first) {
            for missing in &snapshot.missing {
                eprintln!("warning: {} are missing: you may not list them", missing.resource);
            }
            cluster = cluster.warned();
        }
        let (rows, selected) = top(&cluster, args, connection.namespace.as_deref())?;
        let table = || text(&rows, args.what, selected.as_ref(), screen);
        let answer = Answer {
            table: &|_| table(),
            document: &document("Top", cluster.snapshot.now, &cluster.source, Report { rows: &rows }),
            names: rows.iter().map(|row| row.name.clone()).collect(),
        };
        if !args.watch {
            answer.print(args.output.output)?;
            return Ok(Outcome::Fine);
        }
        watch.show(&answer.text(args.output.output)?, table())?;
        if !args.source.is_live() {
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
) -> Result<(Vec<Row>, Option<Selected>), CommandError> {
    let plan = cluster.plan();
    let mut views = views(cluster, plan.as_ref());
    views.retain(|view| args.selector.selects(view));
    let is_wanted = |name: &str| namespace.is_none_or(|wanted| wanted == name);
    let mut rows = match args.what {
        What::Queues => of_queues(&views),
        What::Namespaces => of_namespaces(cluster, &views),
        What::Workloads => of_workloads(cluster, &views),
    };
    let is_selected = |row: &Row| args.selector.text().is_empty() || row.is_managed();
    rows.retain(|row| is_wanted(&row.namespace) && is_selected(row));
    let selected = match &args.resource {
        Some(name) => {
            let mut known = resource_names(&views);
            known.extend(rows.iter().flat_map(|row| row.used.resources().cloned()));
            known.sort();
            known.dedup();
            Some(select(name, &known).map_err(CommandError::Usage)?)
        }
        None => None,
    };
    rows::sort(&mut rows, args.sort, selected.as_ref(), cluster);
    if args.limit > 0 {
        rows.truncate(args.limit);
    }
    Ok((rows, selected))
}

/// The table.
pub(crate) fn text(rows: &[Row], what: What, selected: Option<&Selected>, screen: Screen) -> String {
    let names: &[&str] = match what {
        What::Queues => &["QUEUE", "PODS", "USED", "DESERVED", "OVER", "BORROWED", "LENT"],
        What::Namespaces => &["NAMESPACE", "QUEUE", "PODS", "USED"],
        What::Workloads => &["WORKLOAD", "NAMESPACE", "QUEUE", "PODS", "USED"],
    };
    let mut table = vec![titles(names)];
    table.extend(rows.iter().map(|row| row.cells(what, selected)));
    joined(columns(&table, screen.style))
}
