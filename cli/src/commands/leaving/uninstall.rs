//! `uninstall --check`: what deleting Quotient would leave behind.

use super::{Inventory, Leftover, show};
use crate::Session;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Explanation, OutputArgs, counted};
use crate::source::SourceArgs;

/// Only a look.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct UninstallArgs {
    /// Look what would stay behind. The command itself uninstalls nothing.
    #[arg(long, required = true)]
    check: bool,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    source: SourceArgs,
}

const ABOUT: &str = "\
List what would stay behind if you uninstalled Quotient, and the commands that uninstall it. Nothing is changed.

Exit code 1 if something would stay that restricts workloads: a quota or a LimitRange that no Queue owns, a workload whose \
size Quotient lowered, or a gated pod.";

const EXAMPLES: &str = "\
Examples:
  # Can Quotient go without a trace?
  kubectl quotient uninstall --check";

/// Looks and prints.
pub(crate) async fn run(args: &UninstallArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let Session { connection, screen } = session;
    let snapshot = args.source.read_all(connection).await?;
    let cluster = Cluster::of(&snapshot, None)?.warned();
    show(&uninstall(&cluster), &cluster, args.output.output, screen)
}

/// What is found.
pub(crate) fn uninstall(cluster: &Cluster) -> Explanation {
    let inventory = Inventory::of(cluster, None);
    let (namespace, name) = match &cluster.operator {
        Some(operator) => (operator.namespace.as_str(), operator.name.as_str()),
        None => ("quotient-system", "quotient"),
    };
    let mut told = Explanation::of("Deployment", namespace, name);
    let count = inventory.leftovers.len().saturating_add(inventory.gated.len());
    told.needs_a_person = count > 0;
    told.headline = match count {
        0 => "Nothing that restricts workloads would stay behind.".to_owned(),
        count => format!("{} first.", counted(count, "finding needs you", "findings need you")),
    };
    let queues = counted(inventory.queues.len(), "Queue goes", "Queues go");
    let owned = counted(inventory.owned, "quota or LimitRange", "quotas and LimitRanges");
    told.check(true, format!("{queues}, with {owned}"));
    if inventory.queue_jobs > 0 {
        let jobs = counted(inventory.queue_jobs, "QueueJob is", "QueueJobs are");
        told.step(format!("{jobs} deleted with the kind, and so are the Jobs"));
    }
    for (namespace, pods) in &inventory.gated {
        let pods = counted(*pods, "gated pod", "gated pods");
        told.check(
            false,
            format!(
                "{pods} of {namespace} would wait for ever, because Quotient removes their gate. First: kubectl quotient \
                 release {namespace}"
            ),
        );
    }
    for Leftover { object, namespace, why, fix } in &inventory.leftovers {
        told.check(false, format!("{object} in {namespace} would stay, because {why}. First: {fix}"));
    }
    told.lines = vec![
        "Then, in this order:".to_owned(),
        format!("  helm uninstall {name} --namespace {namespace}"),
        "  kubectl delete queues.quotient.dev --all --all-namespaces".to_owned(),
        "  kubectl delete crd queues.quotient.dev queuejobs.quotient.dev".to_owned(),
        format!("  kubectl -n {namespace} delete configmap quotient-ledger"),
    ];
    told
}
