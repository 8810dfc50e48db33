//! `check`: whether Quotient can be installed, what would break, and what is configured against it.

mod args;
mod facts;
mod finding;
mod latency;
mod look;
mod namespaces;
mod of_cluster;
mod of_operator;
mod of_queues;
mod of_workloads;
mod passed;
mod registry;
mod report;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Progress, Screen, document};
use crate::source::{ConnectionArgs, Live, Scope};

pub(crate) use args::CheckArgs;
pub(crate) use facts::Facts;
#[cfg(test)]
pub(crate) use facts::Rights;
use look::Look;
pub(crate) use registry::CHECKS;
pub(crate) use report::{Report, Result};

/// Looks at everything and prints.
pub(crate) async fn run(
    args: &CheckArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> std::result::Result<Outcome, CommandError> {
    let (snapshot, live) = if let Some(snapshot) = args.source.read_files()? {
        (snapshot, None)
    } else {
        let live = Live::connect(connection).await?;
        let scope = Scope { namespace: connection.namespace.clone(), ..Scope::everything() };
        (live.snapshot(&scope).await?, Some(live))
    };
    let cluster = Cluster::of(&snapshot, None)?.warned();
    let facts = match live {
        Some(live) => Some(Facts::read(&live, cluster.operator.as_ref(), args.measure.as_deref()).await?),
        None => None,
    };
    let report = check(&cluster, facts.as_ref(), connection.namespace.as_deref(), args.pre);
    let answer = Answer {
        table: &|is_wide| report.text(is_wide, screen),
        document: &document("CheckReport", cluster.snapshot.now, &cluster.source, &report),
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
    let plan = cluster.plan();
    let look = Look::at(cluster, facts, plan.as_ref(), namespace);
    let is_measured = facts.is_some_and(|facts| facts.quota_latency.is_some());
    let wanted = CHECKS
        .iter()
        .filter(|check| (!is_before || check.is_for_newcomers()) && (is_measured || !check.is_on_request()));
    Report::new(wanted.map(|check| Result::of(check, &look)).collect(), &look)
}
