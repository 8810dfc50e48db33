//! `uninstall --check`: what deleting Quotient would leave behind.

use super::Inventory;
use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Screen, counted, print};
use crate::source::{ConnectionArgs, Scope, SourceArgs};

/// Only a look.
#[derive(Debug, clap::Args)]
#[command(long_about = ABOUT, after_long_help = EXAMPLES)]
pub(crate) struct UninstallArgs {
    /// Look what would stay behind. The command itself uninstalls nothing.
    #[arg(long, required = true)]
    check: bool,

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
pub(crate) async fn run(
    args: &UninstallArgs,
    connection: &ConnectionArgs,
    screen: Screen,
) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read(connection, &Scope::everything()).await?;
    for missing in &snapshot.missing {
        eprintln!("warning: {} are not looked at: you may not list them", missing.resource);
    }
    let (text, is_clean) = uninstall(&Cluster::of(&snapshot, None)?.warned(), screen);
    print(&text).map_err(anyhow::Error::from)?;
    Ok(Outcome::of(!is_clean))
}

/// What is found, and whether nothing would stay.
pub(crate) fn uninstall(cluster: &Cluster, screen: Screen) -> (String, bool) {
    let inventory = Inventory::of(cluster, None);
    let (good, bad, next) = (screen.glyphs.good, screen.glyphs.bad, screen.glyphs.next);
    let mut lines = vec![format!(
        "{good} {}; with them go {}",
        counted(inventory.queues.len(), "Queue", "Queues"),
        counted(inventory.owned, "quota or LimitRange", "quotas and LimitRanges")
    )];
    if inventory.queue_jobs > 0 {
        lines.push(format!(
            "{next} {} QueueJobs would be deleted with their kind, and so would their Jobs",
            inventory.queue_jobs
        ));
    }
    for (namespace, pods) in &inventory.gated {
        let pods = counted(*pods, "gated pod", "gated pods");
        lines.push(format!("{bad} {pods} of {namespace} would wait for ever: Quotient removes their gate"));
        lines.push(format!("  fix: kubectl quotient release {namespace}"));
    }
    for leftover in &inventory.leftovers {
        lines.push(format!(
            "{bad} {} in {} would stay: {}",
            leftover.object, leftover.namespace, leftover.why
        ));
        lines.push(format!("  fix: {}", leftover.fix));
    }
    let (namespace, name) = match &cluster.operator {
        Some(operator) => (operator.namespace.as_str(), operator.name.as_str()),
        None => ("quotient-system", "quotient"),
    };
    lines.push(format!("{next} In this order:"));
    lines.push(format!("  helm uninstall {name} --namespace {namespace}"));
    lines.push("  kubectl delete queues.quotient.dev --all --all-namespaces".to_owned());
    lines.push("  kubectl delete crd queues.quotient.dev queuejobs.quotient.dev".to_owned());
    lines.push(format!("  kubectl -n {namespace} delete configmap quotient-ledger"));
    lines.push(String::new());
    (lines.join("\n"), inventory.leftovers.is_empty() && inventory.gated.is_empty())
}
