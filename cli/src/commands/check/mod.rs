//! `check`: whether Quotient can be installed, what would break, and what is configured against it.

mod facts;
mod finding;
mod namespaces;
mod of_cluster;
mod of_operator;
mod of_queues;
mod of_workloads;
mod registry;
mod report;

use crate::Session;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, OutputArgs, Progress, document};
use crate::source::{Live, Scope, SourceArgs};

pub(crate) use facts::Facts;
#[cfg(test)]
pub(crate) use facts::Rights;
use finding::CheckContext;
pub(crate) use registry::CHECKS;
pub(crate) use report::{Report, Result};

/// What to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Before an installation: leave out what is about the operator and its Queues.
    #[arg(long)]
    pub(crate) pre: bool,

    /// Measure how long the quota controller takes to enforce a quota: create one in this namespace that limits nothing, and
    /// delete it.
    #[arg(long, value_name = "NAMESPACE", conflicts_with_all = ["files", "snapshot"])]
    pub(crate) measure: Option<String>,

    /// Read the metrics of the operator at this URL as Prometheus would, such as
    /// `https://quotient-metrics.quotient-system.svc:8443/metrics`.
    ///
    /// The request has your token. The certificate is verified, unless the host is this machine or a Service of the cluster
    /// (`*.svc`): the operator makes its own if it is given none.
    #[arg(long, value_name = "URL", conflicts_with_all = ["files", "snapshot", "pre"])]
    pub(crate) metrics: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Looks at everything and prints.
pub(crate) async fn run(
    args: &CheckArgs,
    session: Session<'_>,
) -> std::result::Result<Outcome, CommandError> {
    let Session { connection, screen } = session;
    let (snapshot, live) = if let Some(snapshot) = args.source.read_files(connection)? {
        (snapshot, None)
    } else {
        let live = Live::connect(connection).await?;
        let scope = Scope { namespace: connection.namespace.clone(), ..Scope::everything() };
        (live.snapshot(&scope).await?, Some(live))
    };
    let cluster = Cluster::of(&snapshot, None)?.warned();
    let facts = match live {
        Some(live) => {
            let (operator, measured_in) = (cluster.operator.as_ref(), args.measure.as_deref());
            Some(Facts::read(&live, operator, measured_in, args.metrics.as_deref(), connection).await?)
        }
        None => None,
    };
    let report = check(&cluster, facts.as_ref(), connection.namespace.as_deref(), args.pre);
    let answer = Answer {
        table: &|is_wide| report.text(is_wide, screen),
        document: || document("CheckReport", cluster.snapshot.now, &cluster.source, &report),
        names: report.results.iter().filter(|one| one.found.is_some()).map(|one| one.id.to_owned()).collect(),
    };
    answer.print(args.output.output)?;
    Ok(Outcome::of(report.has_errors()))
}

/// The result of every check.
pub(crate) fn check(
    cluster: &Cluster,
    facts: Option<&Facts>,
    namespace: Option<&str>,
    is_before: bool,
) -> Report {
    let _progress = Progress::begin("looking at the cluster");
    let context = CheckContext::at(cluster, facts, namespace);
    let wanted =
        CHECKS.iter().filter(|check| (!is_before || check.is_for_newcomers()) && check.is_requested(facts));
    Report::new(wanted.map(|check| Result::of(check, &context)).collect(), &context)
}
