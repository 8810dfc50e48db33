//! `init --from-usage`: a Queue for each namespace, proposed from what its pods use now.

mod proposal;

use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Cell, Colour, Screen, columns, counted, print};
use crate::proposals::{OutputDirectory, ProposedQueue};
use crate::source::{ConnectionArgs, SourceArgs};

pub(crate) use proposal::{Proposal, percentage, proposals, whole};

/// What is proposed, and where.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct InitArgs {
    /// Propose from what the pods of each namespace request now.
    #[arg(long, required = true)]
    from_usage: bool,

    #[command(flatten)]
    output: OutputDirectory,

    #[command(flatten)]
    source: SourceArgs,
}

const ABOUT: &str = "\
Propose a Queue in mode Observe for every namespace that has pods and no Queue. Nothing is applied.

The weight is the percentage of the cluster that the pods of the namespace request of the resource that they use most of, at least \
1. Guarantees are a promise, so none is proposed. ResourceQuotas that exist stay and act as limits.";

const EXAMPLES: &str = "\
Examples:
  # Propose, look, and play it
  kubectl quotient init --from-usage -o quotient-queues/
  kubectl quotient diff -f quotient-queues/";

/// Reads, proposes and writes.
pub(crate) async fn run(
    args: &InitArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(connection).await?;
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let proposals = proposals(&cluster);
    if proposals.is_empty() {
        eprintln!(
            "Every namespace with pods has a Queue, or is one of the system: there is nothing to propose."
        );
        return Ok(Outcome::Fine);
    }
    let queues: Vec<ProposedQueue> = proposals.iter().map(Proposal::queue).collect();
    if args.output.put(&queues)? {
        let directory = args.output.to_string();
        print(&text(&proposals, &directory, screen)).map_err(anyhow::Error::from)?;
    }
    Ok(Outcome::Fine)
}

/// The table and what comes next.
pub(crate) fn text(proposals: &[Proposal], directory: &str, screen: Screen) -> String {
    let titles = ["NAMESPACE", "USED NOW", "WEIGHT", "DEFAULT REQUESTS", "NOTE"];
    let mut rows = vec![titles.map(|title| Cell::new(title, Colour::Faint)).to_vec()];
    rows.extend(proposals.iter().map(|proposal| {
        vec![
            Cell::plain(&proposal.namespace),
            Cell::plain(&proposal.used.compact()),
            Cell::plain(&proposal.weight.to_string()).right(),
            Cell::plain(if proposal.lacking > 0 { "100m, 128Mi" } else { "-" }),
            Cell::plain(&proposal.note()),
        ]
    }));
    let mut lines = columns(&rows, screen.style);
    lines.push(format!(
        "{} written with mode: Observe. Nothing was applied. Next: kubectl quotient diff -f {directory}",
        counted(proposals.len(), "Queue", "Queues")
    ));
    lines.push(String::new());
    lines.join("\n")
}
