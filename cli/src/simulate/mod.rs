//! `simulate`: the engine's steps for a cluster made of manifests.

mod jobs;
mod opening;
mod report;
mod sentence;
mod steps;
mod table;
mod tree;
mod unmet;

use anyhow::Context;

use crate::args::{Format, Simulate};
use crate::manifests;
use crate::output::{self, Style};

pub(crate) use steps::{Simulation, simulate};

/// Reads, simulates and prints.
pub(crate) fn run(args: &Simulate) -> anyhow::Result<()> {
    let cluster = manifests::read(&args.files, args.now)?;
    for warning in &cluster.warnings {
        eprintln!("warning: {warning}");
    }
    let simulation = simulate(&cluster, args.until_stable);
    if args.output != Format::Table {
        // The table shows them itself.
        for warning in stalled(&simulation) {
            eprintln!("warning: {warning}");
        }
    }
    let text = render(&simulation, args.output, args.explain, Style::of_stdout())?;
    output::print(&text).context("print the steps")
}

/// The Queues without a share, and what to do about each. They stay so, whatever happens.
pub(crate) fn stalled(simulation: &Simulation) -> Vec<String> {
    let stalls = simulation.steps.first().into_iter().flat_map(|step| &step.plan.stalled);
    stalls
        .map(|(name, stall)| format!("Queue {name} has no share: {}: {}", stall.reason, stall.message))
        .collect()
}

/// The simulation as it is printed, with the pods that rules kept if `explain`.
pub(crate) fn render(
    simulation: &Simulation,
    format: Format,
    explain: bool,
    style: Style,
) -> anyhow::Result<String> {
    Ok(match format {
        Format::Table => table::table(simulation, explain, style),
        Format::Json => {
            let text = serde_json::to_string_pretty(&report::report(simulation, explain));
            format!("{}\n", text.context("write the steps as JSON")?)
        }
        Format::Yaml => serde_yaml_ng::to_string(&report::report(simulation, explain))
            .context("write the steps as YAML")?,
    })
}
