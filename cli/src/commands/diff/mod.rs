//! `diff`: what a change would do to shares and pods, before it is made.

mod comparison;
mod flags;
mod formats;
mod report;
mod table;

use std::panic::resume_unwind;
use std::path::PathBuf;

use clap::{ArgGroup, ValueEnum};
use quotient_engine::time::Timestamp;

use crate::Session;
use crate::commands::simulate::{Simulation, pod_name, simulate};
use crate::exit::{CommandError, Outcome};
use crate::manifests::{Cluster, Problems, read_snapshot};
use crate::output::{Answer, Format, Progress, Screen, document, note, print};
use crate::snapshot::{NodeOffer, Setting, Snapshot, overlay};
use crate::source::{SourceArgs, free_beside};

use comparison::Comparison;
pub(crate) use flags::setting;
use flags::{Gate, Verdict, gate, node_offer};
pub(crate) use report::Report;

/// The change, what it is compared with, and what must not happen.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "kubectl quotient diff [-f FILE|DIR]... [--set ...]... [--drain NODE]... [--add-node ...]... [OPTIONS]"
)]
#[command(group = ArgGroup::new("change").required(true).multiple(true).args(["files", "set", "drain", "add_node"]))]
pub(crate) struct DiffArgs {
    /// Manifests to apply: files, directories (their *.yaml, *.yml and *.json, by name) or `-` for standard input. May be
    /// given several times.
    #[arg(short = 'f', long = "filename", value_name = "FILE|DIR", num_args = 1..)]
    pub(crate) files: Vec<PathBuf>,

    /// Set a field below spec of a Queue. May be given several times.
    #[arg(long, value_name = "queue/[NAMESPACE/]NAME.FIELD=VALUE", value_parser = setting)]
    pub(crate) set: Vec<Setting>,

    /// Take a node away with its pods; controllers create theirs again. May be given several times.
    #[arg(long, value_name = "NODE")]
    pub(crate) drain: Vec<String>,

    /// Add a node that offers these amounts. May be given several times.
    #[arg(long, value_name = "NAME=AMOUNT,…", value_parser = node_offer)]
    pub(crate) add_node: Vec<NodeOffer>,

    /// Exit with 1 if this happens: evictions>N, share-drop>N%, guarantee-unmeetable or stalled, separated by commas.
    #[arg(long, value_name = "GATE,…", value_delimiter = ',', value_parser = gate)]
    pub(crate) fail_on: Vec<Gate>,

    /// Compare with a snapshot or with manifests instead of the cluster.
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) snapshot: Option<PathBuf>,

    /// How to print the difference.
    #[arg(short = 'o', long, value_name = "FORMAT", value_enum, default_value_t = DiffFormat::Table)]
    pub(crate) output: DiffFormat,
}

/// How to print a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// For people; of many queues only those that change.
    Table,
    /// For people, with every queue and every evicted pod.
    Wide,
    /// For programs.
    Json,
    /// The same as json, in YAML.
    Yaml,
    /// The names of the evicted pods alone, one a line.
    Name,
    /// For a comment on a pull request.
    Markdown,
    /// A test report in which every gate is a test.
    Junit,
}

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
pub(crate) async fn run(args: &DiffArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let source = SourceArgs { files: Vec::new(), snapshot: args.snapshot.clone() };
    let base = source.read_all(session.connection).await?;
    let namespace = match &args.snapshot {
        // The answer of a file does not depend on the context.
        Some(_) => session.connection.namespace.clone(),
        None => Some(session.connection.default_namespace().await?),
    };
    let diff = Diff::of(&base, args, namespace.as_deref())?;
    for warning in &diff.warnings {
        note(&format!("warning: {warning}"));
    }
    print(&text(&diff, args.output, session.screen)?)?;
    let outcome = Outcome::of(diff.verdicts.iter().any(|verdict| !verdict.is_passed));
    free_beside((base, diff));
    Ok(outcome)
}

impl Diff {
    /// What is changed, in one line.
    fn changes_text(&self) -> String {
        if self.changes.is_empty() { "no change".to_owned() } else { self.changes.join("; ") }
    }

    /// Compares `base` with and without the change. Manifests that name no namespace are in `namespace`, if one is given.
    pub(crate) fn of(
        base: &Snapshot,
        args: &DiffArgs,
        namespace: Option<&str>,
    ) -> Result<Self, CommandError> {
        let is_changed = !args.files.is_empty();
        let manifests = if is_changed { read_snapshot(&args.files, namespace)?.entries } else { Vec::new() };
        let mut overlaid = base.clone();
        let changes = overlay(&mut overlaid, manifests, &args.set, &args.drain, &args.add_node)?;
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
        let verdicts = args.fail_on.iter().map(|gate| gate.check(&comparison)).collect();
        Ok(Self { base: before, changes, comparison, verdicts, warnings: after.warnings })
    }
}

/// The cluster of `snapshot`, and how it comes to rest.
fn played(snapshot: &Snapshot, now: Timestamp) -> Result<(Cluster, Simulation), Problems> {
    let cluster = Cluster::of(snapshot, Some(now))?;
    let simulation = simulate(&cluster, true);
    Ok((cluster, simulation))
}

/// The difference as it is printed.
pub(crate) fn text(diff: &Diff, format: DiffFormat, screen: Screen) -> Result<String, CommandError> {
    let format = match format {
        DiffFormat::Table => Format::Table,
        DiffFormat::Wide => Format::Wide,
        DiffFormat::Json => Format::Json,
        DiffFormat::Yaml => Format::Yaml,
        DiffFormat::Name => Format::Name,
        DiffFormat::Markdown => return Ok(formats::markdown(diff)),
        DiffFormat::Junit => return Ok(formats::junit(diff)),
    };
    let answer = Answer {
        table: &|is_wide| table::table(diff, is_wide, screen),
        document: || document("Diff", diff.base.snapshot.now, &diff.base.source, Report::of(diff)),
        names: diff
            .comparison
            .evicted
            .iter()
            .map(|evicted| format!("pod/{}", pod_name(&evicted.pod)))
            .collect(),
    };
    Ok(answer.text(format)?)
}
