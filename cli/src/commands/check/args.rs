//! The flags of `check`.

use crate::output::OutputArgs;
use crate::source::SourceArgs;

/// What to look at.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Before an installation: leave out what is about the operator and its Queues.
    #[arg(long)]
    pub(crate) pre: bool,

    /// Measure how long the quota controller takes to enforce a quota: create one in this namespace that limits nothing, and
    /// delete it.
    #[arg(long, value_name = "NAMESPACE", conflicts_with_all = ["files", "snapshot"])]
    pub(crate) measure: Option<String>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

const ABOUT: &str = "\
Check the cluster, the operator, Queues, namespaces and workloads: what is missing, what would break, and what is configured \
against fair sharing. Each finding has an id, a fix and a section in docs/reference/checks.md.

With -n only one namespace is looked at. Checks that need a right that you do not have, or that need a cluster while you look at \
files, are counted as not looked at. Nothing is changed, except by --measure.

Exit code 1 if there is an error.";

const EXAMPLES: &str = "\
Examples:
  # Can Quotient be installed here, and what would break?
  kubectl quotient check --pre

  # Everything, with the checks that pass
  kubectl quotient check -o wide

  # How fast is the quota controller?
  kubectl quotient check --measure default

  # One team
  kubectl quotient check -n team-a

  # The ids of what was found, for a script
  kubectl quotient check -o name";
