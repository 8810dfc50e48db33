//! `snapshot`: everything that the operator reads, in one file.

use std::path::PathBuf;

use crate::exit::{CommandError, Outcome};
use crate::output::{print, time_text};
use crate::snapshot::{Snapshot, redact, write_file};
use crate::source::{ConnectionArgs, Scope, SourceArgs};

/// Where the snapshot goes.
#[derive(Debug, clap::Args)]
pub(crate) struct SnapshotArgs {
    /// The file to write, such as prod.json.gz.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub(crate) output: PathBuf,

    /// Leave out environments, commands, images, volumes, output of containers and the annotations of other programs.
    ///
    /// No decision depends on them. Names and labels stay, because workloads, pods and selectors are matched by them. The
    /// flags and the account of the operator stay.
    #[arg(long)]
    pub(crate) redact: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

/// Reads and writes.
pub(crate) async fn run(args: &SnapshotArgs, connection: &ConnectionArgs) -> Result<Outcome, CommandError> {
    let namespace = connection.namespace.clone();
    let scope = Scope { namespace, ..Scope::everything() };
    let mut snapshot = args.source.read(connection, &scope, &["pods"]).await?;
    if args.redact {
        redact(&mut snapshot);
    }
    let bytes = write_file(&snapshot, &args.output)?;
    snapshot.warn_of_missing();
    print(&summary(&snapshot, &args.output.display().to_string(), bytes))?;
    Ok(Outcome::of(!snapshot.missing.is_empty()))
}

fn summary(snapshot: &Snapshot, file: &str, bytes: usize) -> String {
    let time = snapshot.as_of.map(|time| format!(" as of {}", time_text(time))).unwrap_or_default();
    let redacted = if snapshot.is_redacted { ", redacted" } else { "" };
    format!(
        "{}{time}: {} objects in {file} ({} KiB{redacted})\n",
        snapshot.source,
        snapshot.entries.len(),
        bytes.div_ceil(1024)
    )
}
