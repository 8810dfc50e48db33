//! The flags of `diff`.

use std::path::PathBuf;

use clap::{ArgGroup, ValueEnum};

use super::change::{NodeOffer, node_offer, setting};
use super::gates::{Gate, gate};
use crate::snapshot::Setting;

/// The change, what it is compared with, and what must not happen.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES, override_usage = USAGE)]
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

const USAGE: &str = "\
kubectl quotient diff [-f FILE|DIR]... [--set ...]... [--drain NODE]... [--add-node ...]... [OPTIONS]";

const ABOUT: &str = "\
Show what a change would do before you make it: shares before and after, evicted pods, and how long it takes.

The operator's engine plays the cluster twice until nothing happens any more, without the change and with it; what differs is \
printed. Nothing is changed. Manifests are merged into objects of the same name, as kubectl apply would do.

Exit code 1 if something happens that --fail-on names.";

const EXAMPLES: &str = "\
Examples:
  # What would these Queues do to the cluster?
  kubectl quotient diff -f team-x.yaml

  # Twice the weight, or the loss of a node?
  kubectl quotient diff --set queue/team-a.weight=2
  kubectl quotient diff --drain node-7

  # Would another node help?
  kubectl quotient diff --add-node cpu=32,memory=128Gi,nvidia.com/gpu=4

  # A gate for a pull request, without access to the cluster
  kubectl quotient diff -f queues/ --snapshot prod.json.gz --fail-on evictions>0,share-drop>10% -o markdown";
