//! `diff`: what a change would do to shares and pods, before it is made.

mod args;
mod change;
mod comparison;
mod gates;
mod junit;
mod markdown;
mod report;
mod table;

use std::panic::resume_unwind;

use quotient_engine::time::Timestamp;

use crate::commands::simulate::{Simulation, simulate};
use crate::exit::{CommandError, Outcome};
use crate::manifests::{Cluster, Problems, read_snapshot};
use crate::output::{Answer, Format, Progress, Screen, document, print};
use crate::snapshot::{Change, Snapshot, overlay};
use crate::source::{ConnectionArgs, SourceArgs, free_beside};

pub(crate) use args::{DiffArgs, DiffFormat};
pub(crate) use change::setting;
use comparison::Comparison;
use gates::Verdict;
pub(crate) use report::Report;

/// A change, and what it does.
pub(crate) struct Diff {
    pub(crate) base: Cluster,
    /// A phrase for each part of the change.
    pub(crate) changes: Vec<String>,
    pub(crate) comparison: Comparison,
    pub(crate) verdicts: Vec<Verdict>,
    /// What was read and makes no difference, a line each.
    pub(crate) warnings: Vec<String>,
}

/// Reads, compares and prints.
pub(crate) async fn run(
    args: &DiffArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let source = SourceArgs { files: Vec::new(), snapshot: args.snapshot.clone() };
    let base = source.read_all(connection).await?;
    let diff = Diff::of(&base, args)?;
    for warning in &diff.warnings {
        eprintln!("warning: {warning}");
    }
    print(&text(&diff, args.output, screen)?)?;
    let outcome = Outcome::of(diff.verdicts.iter().any(|verdict| !verdict.is_passed));
    free_beside((base, diff));
    Ok(outcome)
}

impl Diff {
    /// Compares `base` with and without the change.
    pub(crate) fn of(base: &Snapshot, args: &DiffArgs) -> Result<Self, CommandError> {
        let change = change(args)?;
        let mut overlaid = base.clone();
        let changes = overlay(&mut overlaid, change).map_err(CommandError::Usage)?;
        let progress = Progress::begin("playing the cluster with the change and without it");
        // Both are looked at in the same instant.
        let now = base.now();
        let (before, after) = std::thread::scope(|scope| {
            let after = scope.spawn(|| played(&overlaid, now));
            (played(base, now), after.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        drop(progress);
        let ((before, without), (after, with)) = (before?, after?);
        let comparison = Comparison::of(&without, &with, &after);
        let verdicts = args.fail_on.iter().map(|gate| gate.judge(&comparison)).collect();
        Ok(Self { base: before, changes, comparison, verdicts, warnings: after.warnings })
    }
}

/// The cluster of `snapshot`, and how it comes to rest.
fn played(snapshot: &Snapshot, now: Timestamp) -> Result<(Cluster, Simulation), Problems> {
    let cluster = Cluster::of(snapshot, Some(now))?;
    let simulation = simulate(&cluster, true);
    Ok((cluster, simulation))
}

fn change(args: &DiffArgs) -> Result<Change, CommandError> {
    let manifests = if args.files.is_empty() { Vec::new() } else { read_snapshot(&args.files)?.entries };
    Ok(Change {
        manifests,
        settings: args.set.clone(),
        drained: args.drain.clone(),
        added: args.add_node.iter().map(|offer| offer.0.clone()).collect(),
    })
}

/// The difference as it is printed.
pub(crate) fn text(diff: &Diff, format: DiffFormat, screen: Screen) -> Result<String, CommandError> {
    let format = match format {
        DiffFormat::Table => Format::Table,
        DiffFormat::Wide => Format::Wide,
        DiffFormat::Json => Format::Json,
        DiffFormat::Yaml => Format::Yaml,
        DiffFormat::Name => Format::Name,
        DiffFormat::Markdown => return Ok(markdown::markdown(diff)),
        DiffFormat::Junit => return Ok(junit::junit(diff)),
    };
    let answer = Answer {
        table: &|is_wide| table::table(diff, is_wide, screen),
        document: &document("Diff", diff.base.snapshot.now, &diff.base.source, Report::of(diff)),
        names: diff.comparison.evicted.iter().map(|evicted| format!("pod/{}", evicted.pod)).collect(),
    };
    Ok(answer.text(format)?)
}
