//! `adopt`: a Queue for each namespace of a cluster that already works, and what changes for its workloads.

mod adoption;

use crate::commands::check::check;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Screen, print};
use crate::proposals::{OutputDirectory, ProposedQueue};
use crate::source::{ConnectionArgs, SourceArgs};

pub(crate) use adoption::adoption;

/// What is adopted, and where the Queues go.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct AdoptArgs {
    #[command(flatten)]
    output: OutputDirectory,

    #[command(flatten)]
    source: SourceArgs,
}

const ABOUT: &str = "\
Propose a Queue in mode Observe for every namespace that has pods and no Queue, from its quotas and its use, and list what \
changes for the workloads. Nothing is applied.

If all ResourceQuotas together fit into the cluster, each becomes the guaranteed amounts of its Queue: the team keeps what it \
has today and lends what it does not use. Otherwise the weight is the percentage of the cluster that the quota, or without one \
the use, stands for. The ResourceQuotas stay and act as limits until you delete them.";

const EXAMPLES: &str = "\
Examples:
  # Propose, look, and play it
  kubectl quotient adopt -o quotient-queues/
  kubectl quotient diff -f quotient-queues/

  # The same without access to the cluster
  kubectl quotient adopt --snapshot prod.json.gz";

/// Reads, proposes, and tells what to look at.
pub(crate) async fn run(
    args: &AdoptArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(connection).await?;
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let adoption = adoption(&cluster);
    let queues: Vec<ProposedQueue> = adoption.queues().cloned().collect();
    if args.output.put(&queues)? {
        let report = check(&cluster, None, None, true);
        let text = adoption.text(&args.output.to_string(), &report, screen);
        print(&text).map_err(anyhow::Error::from)?;
    } else if queues.is_empty() {
        eprintln!(
            "Every namespace with pods has a Queue, or is one of the system: there is nothing to adopt."
        );
    }
    Ok(Outcome::Fine)
}
