//! Manifests in, printed steps or problems out.

mod budgets;
mod checks;
mod diff;
mod explain;
mod formats;
mod input;
mod intra_queue;
mod leaving;
mod live;
mod migrate;
mod modes;
mod owners;
mod priorities;
mod queue_jobs;
mod reasons;
mod replays;
mod samples;
mod schemas;
mod seeds;
mod snapshots;
mod status;
mod tops;
mod trees;
mod unmet;
mod waiting;

use std::path::{Path, PathBuf};

use expect_test::Expect;
use quotient_engine::time::Timestamp;

use crate::commands::simulate::{render, simulate};
use crate::manifests::{self, Cluster};
use crate::output::Format;
use crate::output::Style;
use crate::snapshot::Snapshot;

/// The page that shows what the commands print.
const PAGE: &str = include_str!("../../../docs/reference/cli.md");

/// The arguments of one command, as a user types them.
fn args<A: clap::Args>(line: &str) -> A {
    let command = A::augment_args(clap::Command::new("command").no_binary_name(true));
    A::from_arg_matches(&command.try_get_matches_from(line.split_whitespace()).unwrap()).unwrap()
}

/// A directory of `examples/`.
fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// A file of `clusters/`, as an API server returned it at this time.
fn observed(name: &str, time: &str) -> Snapshot {
    observed_at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/clusters").join(name), time)
}

/// A file, as an API server returned it at this time.
fn observed_at(path: &Path, time: &str) -> Snapshot {
    let mut snapshot = manifests::read_snapshot(&[path.to_owned()], None).unwrap();
    let time: jiff::Timestamp = time.parse().unwrap();
    snapshot.as_of = Some(Timestamp::from_millis(time.as_millisecond()));
    snapshot.is_observed = true;
    snapshot.source = "cluster prod-eu".to_owned();
    snapshot.entries.iter_mut().for_each(|entry| entry.is_written = false);
    snapshot
}

/// One YAML text, as an API server returned it at this time.
fn observed_yaml(yaml: &str, time: &str) -> Snapshot {
    let directory = directory(&[("input.yaml", yaml)]);
    observed_at(&directory.path().join("input.yaml"), time)
}

/// A directory with these files.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// What the files describe, or their problems, with `DIR` for the directory.
fn read(files: &[(&str, &str)]) -> Result<Cluster, String> {
    let directory = directory(files);
    let path = directory.path().to_path_buf();
    manifests::read(std::slice::from_ref(&path), None)
        .map_err(|problems| problems.to_string().replace(&*path.to_string_lossy(), "DIR"))
}

/// The steps until nothing happens any more, as they are printed.
fn played(cluster: &Cluster, format: Format) -> String {
    let text = render(cluster, &simulate(cluster, true), format, false, Style::Plain).unwrap();
    text.replace(&*example("").to_string_lossy(), "examples/")
}

/// The printed steps of one YAML text.
fn check(yaml: &str, expected: &Expect) {
    expected.assert_eq(&played(&read(&[("input.yaml", yaml)]).unwrap(), Format::Table));
}
