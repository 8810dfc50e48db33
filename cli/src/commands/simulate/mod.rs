//! `simulate`: the engine's steps for a cluster made of manifests.

mod report;
mod sentence;
mod steps;
mod table;

use quotient_engine::time::Timestamp;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Format, OutputArgs, Progress, Style, document, print};
use crate::source::SourceArgs;
use crate::{Session, objects};

pub(crate) use report::{PassedOverReport, Report, pod_name};
pub(crate) use sentence::{all_unmet, stalled_only_in, why, why_it_waits, why_not_started};
pub(crate) use steps::{Simulation, simulate};

/// What to simulate, and how to show it.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Read the cluster that kubectl would use. Nothing is changed in it.
    #[arg(long, conflicts_with_all = ["files", "snapshot"], required_unless_present_any = ["files", "snapshot"])]
    pub(crate) live: bool,

    /// Go on, one step after the other, until the next one would be the same.
    ///
    /// At most 1000 steps; without this, the first step alone is shown.
    #[arg(long)]
    pub(crate) until_stable: bool,

    /// Show also which pods a rule kept where something was taken, and which rule.
    #[arg(long)]
    pub(crate) explain: bool,

    /// The time at which the cluster is looked at, such as 2026-11-21T12:00:00Z.
    ///
    /// Default: for a cluster or a snapshot, when it was read; for manifests, the latest timestamp that stands in
    /// metadata or status, so that the same files always give the same answer.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads a time.
fn time(text: &str) -> Result<Timestamp, String> {
    objects::time(text).map_err(|error| format!("write a time such as 2026-11-21T12:00:00Z ({error})"))
}

/// Reads, simulates and prints.
pub(crate) async fn run(args: &SimulateArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(session.connection).await?;
    let progress = Progress::begin("playing the cluster");
    let cluster = Cluster::of(&snapshot, args.now)?;
    let simulation = simulate(&cluster, args.until_stable);
    drop(progress);
    let cluster = cluster.warned();
    let text = render(&cluster, &simulation, args.output.output, args.explain, session.screen.style)?;
    print(&text)?;
    Ok(Outcome::Fine)
}

/// The cluster once controllers have created what nothing keeps them from: what a look at the cluster of manifests would
/// show. An observed one is shown as it is.
pub(crate) fn at_rest(mut cluster: Cluster) -> Cluster {
    if !cluster.is_observed {
        cluster.snapshot = steps::open(&cluster).0;
    }
    cluster
}

/// The simulation as it is printed, with the pods that rules kept if `explain`.
pub(crate) fn render(
    cluster: &Cluster,
    simulation: &Simulation,
    format: Format,
    explain: bool,
    style: Style,
) -> anyhow::Result<String> {
    let report = Report::of(simulation, explain);
    let queues = simulation.steps.first().into_iter().flat_map(|step| step.plan.queues.keys());
    Answer {
        table: &|_| table::table(simulation, explain, style),
        document: || document("Simulation", cluster.snapshot.now, &cluster.source, report),
        names: queues.map(|queue| format!("queue.quotient.dev/{queue}")).collect(),
    }
    .text(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_or_explained() {
        assert_eq!(time("1970-01-01T01:00:00+01:00"), Ok(Timestamp::from_millis(0)));
        assert!(time("yesterday").unwrap_err().starts_with("write a time such as"));
    }
}
