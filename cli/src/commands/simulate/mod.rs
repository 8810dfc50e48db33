//! `simulate`: the engine's steps for a cluster made of manifests.

mod args;
mod opening;
mod report;
mod sentence;
mod steps;
mod table;
pub(crate) mod unmet;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Format, Progress, Screen, Style, document};
use crate::source::ConnectionArgs;

pub(crate) use args::{SimulateArgs, time};
pub(crate) use report::{Report, find_pod, pod_name};
pub(crate) use sentence::{why, why_it_waits};
pub(crate) use steps::{Simulation, simulate};

/// Reads, simulates and prints.
pub(crate) async fn run(
    args: &SimulateArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(connection).await?;
    let cluster = Cluster::of(&snapshot, args.now)?.warned();
    let progress = Progress::begin("playing the cluster");
    let simulation = simulate(&cluster, args.until_stable);
    drop(progress);
    if args.output.output != Format::Table {
        // The table shows them itself.
        for warning in stalled(&simulation) {
            eprintln!("warning: {warning}");
        }
    }
    let text = render(&cluster, &simulation, args.output.output, args.explain, screen.style)?;
    crate::output::print(&text)?;
    Ok(Outcome::Fine)
}

/// The cluster once controllers have created what nothing keeps them from: what a look at the cluster of manifests would
/// show. An observed one is shown as it is.
pub(crate) fn at_rest(mut cluster: Cluster) -> Cluster {
    if !cluster.is_observed {
        cluster.snapshot = opening::open(&cluster).snapshot;
    }
    cluster
}

/// The Queues without a share, and what to do about each. No step changes that.
pub(crate) fn stalled(simulation: &Simulation) -> Vec<String> {
    let stalls = simulation.steps.first().into_iter().flat_map(|step| &step.plan.stalled);
    stalls
        .map(|(name, stall)| format!("Queue {name} has no share: {}: {}", stall.reason, stall.message))
        .collect()
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
        document: &document("Simulation", cluster.snapshot.now, &cluster.source, report),
        names: queues.map(|queue| format!("queue.quotient.dev/{queue}")).collect(),
    }
    .text(format)
}
