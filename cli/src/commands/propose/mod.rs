//! `init` and `adopt`: a Queue for each namespace, proposed from what its pods use now or from its quotas.

mod proposal;

use std::collections::{BTreeMap, BTreeSet};

use crate::Session;
use crate::commands::check::check;
use crate::commands::migrate::system_of_sign;
use crate::commands::simulate::at_rest;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::objects::Object;
use crate::output::{Cell, Progress, Screen, columns, counted, joined, print, spaced, titles};
use crate::proposals::{OutputDirectory, ProposedQueue};
use crate::queues::amounts;
use crate::source::SourceArgs;

pub(crate) use proposal::{Basis, Proposal, proposals};

/// What is proposed, and where.
#[derive(Debug, clap::Args)]
#[command(long_about = INIT, after_long_help = INIT_EXAMPLES)]
pub(crate) struct InitArgs {
    /// Propose from what the pods of each namespace request now.
    #[arg(long, required = true)]
    from_usage: bool,

    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// What is adopted, and where the Queues go.
#[derive(Debug, clap::Args)]
#[command(long_about = ADOPT, after_long_help = ADOPT_EXAMPLES)]
pub(crate) struct AdoptArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

/// What is read, and where the Queues go.
#[derive(Debug, clap::Args)]
pub(crate) struct TargetArgs {
    #[command(flatten)]
    output: OutputDirectory,

    #[command(flatten)]
    source: SourceArgs,
}

const INIT: &str = "\
Propose a Queue in mode Observe for every namespace that has pods and no Queue. Nothing is applied.

The weight is the percentage of the cluster that the pods of the namespace request of the resource that they use most of, at least \
1. A namespace with a ResourceQuota is guaranteed half of what its pods request, because the quota is a promise; all halves together \
fit into the cluster. ResourceQuotas that exist stay and act as limits.";

const INIT_EXAMPLES: &str = "\
Examples:
  # Propose, look, and play it
  kubectl quotient init --from-usage -o quotient-queues/
  kubectl quotient diff -f quotient-queues/";

const ADOPT: &str = "\
Propose a Queue in mode Observe for every namespace that has pods and no Queue, from its quotas and its use, and list what \
changes for the workloads. Nothing is applied.

If all ResourceQuotas together fit into the cluster, each becomes the guaranteed amounts of its Queue: the team keeps what it \
has today and lends what it does not use. Otherwise the weight is the percentage of the cluster that the quota, or without one \
the use, stands for. The ResourceQuotas stay and act as limits until you delete them.";

const ADOPT_EXAMPLES: &str = "\
Examples:
  # Propose, look, and play it
  kubectl quotient adopt -o quotient-queues/
  kubectl quotient diff -f quotient-queues/

  # The same without access to the cluster
  kubectl quotient adopt --snapshot prod.json.gz";

/// Reads, proposes and writes.
pub(crate) async fn run(
    args: &TargetArgs,
    basis: Basis,
    session: Session<'_>,
) -> Result<Outcome, CommandError> {
    let Session { connection, screen } = session;
    let snapshot = args.source.read_all(connection).await?;
    let progress = Progress::begin("looking at what every namespace uses");
    let cluster = at_rest(Cluster::of(&snapshot, None)?.warned());
    let proposals = proposals(&cluster, basis);
    drop(progress);
    if proposals.is_empty() {
        eprintln!(
            "Every namespace with pods has a Queue, or is one of the system: there is nothing to propose."
        );
        return Ok(Outcome::Fine);
    }
    let queues: Vec<ProposedQueue> = proposals.iter().map(|proposal| proposal.queue.clone()).collect();
    if args.output.put(&queues)? {
        print(&text(&cluster, &proposals, basis, &args.output.to_string(), screen))?;
    }
    Ok(Outcome::Fine)
}

/// The table and what comes next; if a cluster is adopted, also other systems and what the checks found.
pub(crate) fn text(
    cluster: &Cluster,
    proposals: &[Proposal],
    basis: Basis,
    directory: &str,
    screen: Screen,
) -> String {
    let mut rows =
        vec![titles(&["NAMESPACE", "USED NOW", "WEIGHT", "GUARANTEED", "DEFAULT REQUESTS", "NOTE"])];
    rows.extend(proposals.iter().map(|proposal| {
        let spec = &proposal.queue.spec;
        let guaranteed = spec.guaranteed.as_ref().map(|map| spaced(&amounts(Some(map))));
        vec![
            Cell::from(&proposal.queue.namespace),
            spaced(&proposal.used).into(),
            spec.weight.to_string().into(),
            guaranteed.unwrap_or_else(|| "-".to_owned()).into(),
            if proposal.lacking > 0 { "100m, 128Mi" } else { "-" }.into(),
            Cell::from(&proposal.note),
        ]
    }));
    let mut lines = columns(&rows, screen.style);
    if basis == Basis::Quotas {
        lines.extend(systems(cluster).into_iter().map(|(system, namespaces)| {
            format!(
                "{} to {system}. Its queues become Queues by: kubectl quotient migrate {system}",
                counted(namespaces.len(), "namespace belongs", "namespaces belong")
            )
        }));
        lines.push(String::new());
        lines.push(check(cluster, None, None, true).text(false, screen));
    }
    let written = counted(proposals.len(), "Queue", "Queues");
    lines.push(format!(
        "{written} written with mode: Observe. Nothing applied. Next: kubectl quotient diff -f {directory}"
    ));
    joined(lines)
}

/// The namespaces that another system shares out, by the system.
fn systems(cluster: &Cluster) -> BTreeMap<&'static str, BTreeSet<&str>> {
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for object in &cluster.objects {
        let name = match object {
            Object::Namespace(_) => object.name(),
            Object::Pod(_) => object.namespace(),
            _ => continue,
        };
        let metadata = object.metadata();
        let maps = [&metadata.labels, &metadata.annotations].into_iter().flatten();
        for system in maps.flat_map(BTreeMap::keys).filter_map(|key| system_of_sign(key)) {
            found.entry(system).or_default().insert(name);
        }
    }
    found
}
