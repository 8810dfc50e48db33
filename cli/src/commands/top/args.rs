//! The flags of `top`.

use clap::ValueEnum;

use crate::output::OutputArgs;
use crate::queues::SelectorArgs;
use crate::source::SourceArgs;

/// What to list, and how.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct TopArgs {
    /// What to list.
    #[arg(value_enum)]
    pub(super) what: What,

    #[command(flatten)]
    pub(super) selector: SelectorArgs,

    /// Compare by one resource, such as cpu, memory or gpu; else by the largest part of the cluster.
    #[arg(short = 'r', long, value_name = "RESOURCE")]
    pub(super) resource: Option<String>,

    /// What to sort by.
    #[arg(long, value_enum, default_value_t = Sort::Used)]
    pub(super) sort: Sort,

    /// How many rows; 0 for all.
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub(super) limit: usize,

    /// Print again whenever something changes, until you interrupt it.
    #[arg(short = 'w', long)]
    pub(super) watch: bool,

    #[command(flatten)]
    pub(super) output: OutputArgs,

    #[command(flatten)]
    pub(super) source: SourceArgs,
}

/// What to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Queues, with what they borrow and lend.
    Queues,
    /// Namespaces, also those without a Queue.
    Namespaces,
    /// Workloads: Deployments, Jobs, ….
    Workloads,
}

/// What to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// What is used, most first.
    Used,
    /// What is used above the deserved share of the queue, most first.
    Over,
    /// The name.
    Name,
}

const ABOUT: &str = "\
List which queues, namespaces or workloads use most. Pods count as their quota counts them: by requests, until they are gone.

Of a cluster the command reads Queues and nodes; for namespaces also pods, and for workloads also what creates them. -n bounds it to \
one namespace.";

const EXAMPLES: &str = "\
Examples:
  # Which queues are above their shares?
  kubectl quotient top queues --sort over

  # The same, live
  kubectl quotient top queues --sort over -w

  # Which namespaces use GPUs, with or without a Queue?
  kubectl quotient top namespaces -r gpu

  # What in this team?
  kubectl quotient top workloads -n ml-train";

impl What {
    /// What is read of a cluster.
    pub(super) const fn kinds(self) -> &'static str {
        match self {
            Self::Queues => "queues nodes",
            Self::Namespaces => "queues nodes namespaces pods",
            Self::Workloads => {
                "queues nodes namespaces pods replicasets jobs deployments statefulsets daemonsets"
            }
        }
    }
}
