//! The flags of `status`.

use std::time::Duration;

use crate::output::OutputArgs;
use crate::queues::SelectorArgs;
use crate::source::SourceArgs;

/// Which queues, and how long.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct StatusArgs {
    /// The queues to show, by name or NAMESPACE/NAME; all if left out.
    #[arg(value_name = "QUEUE")]
    pub(crate) queues: Vec<String>,

    /// Show the queues of all namespaces, although -n names one.
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    #[command(flatten)]
    pub(crate) selector: SelectorArgs,

    /// Show one resource alone, such as cpu, memory or gpu.
    #[arg(short = 'r', long, value_name = "RESOURCE")]
    pub(crate) resource: Option<String>,

    /// Print again whenever something changes, until you interrupt it.
    #[arg(short = 'w', long)]
    pub(crate) watch: bool,

    /// Wait until no queue is starved or stalled; exit code 4 if that takes longer than --timeout.
    #[arg(long)]
    pub(crate) wait: bool,

    /// How many seconds --wait waits.
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = seconds)]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text).parse::<u64>();
    number.map(Duration::from_secs).map_err(|_| "write a number of seconds, such as 300".to_owned())
}

const ABOUT: &str = "\
Show which queue deserves, is allocated and uses what, and what is wrong.

Of a cluster the command reads the Queues, as the operator reported them, and if you may list them the nodes, the operator's \
Deployment and its Lease. Of a snapshot it shows the same; of manifests it computes what the operator would report.

Exit code 1 if a queue is stalled, or starved for 5 minutes or longer.";

const EXAMPLES: &str = "\
Examples:
  # All queues
  kubectl quotient status

  # Those of one organization, by the labels of the Queues
  kubectl quotient status -A -l org=research

  # Which queues use the GPUs?
  kubectl quotient status -r gpu

  # Two queues with every column
  kubectl quotient status team-a ml/ml-dev -o wide

  # Wait at most ten minutes until every queue has what it deserves
  kubectl quotient status --wait --timeout 600

  # The same question about a snapshot, for a script
  kubectl quotient status --snapshot prod.json.gz -o json";
