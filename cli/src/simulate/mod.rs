//! `simulate`: the engine's steps for a cluster made of manifests.

mod compact;
mod report;
mod sentence;
mod steps;
mod table;

use anyhow::Context;
use quotient_engine::snapshot::Snapshot;

use crate::args::{Format, Simulate};
use crate::manifests;
use crate::output::{self, Style};

pub(crate) use steps::simulate;

/// Reads, simulates and prints.
pub(crate) fn run(args: &Simulate) -> anyhow::Result<()> {
    let cluster = manifests::read(&args.files, args.now)?;
    for warning in &cluster.warnings {
        eprintln!("warning: {warning}");
    }
    let text = render(&cluster.snapshot, args.until_stable, args.output, Style::of_stdout())?;
    output::print(&text).context("print the steps")
}

/// The steps from `snapshot` on as they are printed.
pub(crate) fn render(
    snapshot: &Snapshot,
    until_stable: bool,
    format: Format,
    style: Style,
) -> anyhow::Result<String> {
    let simulation = simulate(snapshot, until_stable);
    Ok(match format {
        Format::Table => table::table(&simulation, style),
        Format::Json => {
            let text = serde_json::to_string_pretty(&report::report(&simulation));
            format!("{}\n", text.context("write the steps as JSON")?)
        }
        Format::Yaml => {
            serde_yaml_ng::to_string(&report::report(&simulation)).context("write the steps as YAML")?
        }
    })
}
