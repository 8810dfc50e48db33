//! `simulate`: the engine's steps for a cluster made of manifests.

mod report;
mod sentence;
mod steps;
mod table;
pub(crate) mod unmet;

use quotient_engine::time::Timestamp;

use crate::exit::{CommandError, Outcome};
use crate::manifests::Cluster;
use crate::output::{Answer, Format, OutputArgs, Progress, Style, document};
use crate::source::SourceArgs;
use crate::{Session, objects};

pub(crate) use report::{Report, find_pod, grace_of, pod_name};
pub(crate) use sentence::{why, why_it_waits};
pub(crate) use steps::{Simulation, simulate};

/// What to simulate, and how to show it.
#[derive(Debug, clap::Args)]
#[command(long_about = SIMULATE, after_long_help = EXAMPLES)]
pub(crate) struct SimulateArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Read the cluster that kubectl would use. Nothing is changed in it.
    #[arg(long, conflicts_with_all = ["files", "snapshot"], required_unless_present_any = ["files", "snapshot"])]
    pub(crate) live: bool,

    /// Go on, one step after the other, until the next one would be the same.
    ///
    /// At most 1000 steps; without this, the first step alone is shown.
    #[arg(long)]
    pub(crate) until_stable: bool,

    /// Show also which pods a rule kept where something was taken, and which rule.
    #[arg(long)]
    pub(crate) explain: bool,

    /// The time at which the cluster is looked at, such as 2026-11-21T12:00:00Z.
    ///
    /// Default: for a cluster or a snapshot, when it was read; for manifests, the latest timestamp that stands in
    /// metadata or status, so that the same files always give the same answer.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) now: Option<Timestamp>,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Reads a time.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    objects::time(text).map_err(|error| format!("write a time such as 2026-11-21T12:00:00Z ({error})"))
}

const SIMULATE: &str = "\
Show what Quotient would do with a cluster, step by step.

Reads the cluster (--live), a snapshot (--snapshot) or ordinary manifests (-f: Namespace, Node, Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, PodDisruptionBudget, \
PriorityClass, Queue, QueueJob, ResourceQuota, LimitRange, HorizontalPodAutoscaler, PodGroup; YAML or JSON; several documents or a \
List; other kinds are skipped and counted), asks the same engine as the \
operator, and prints each step: what every queue asks for, deserves, is allocated and uses (children below their \
parents), which pods are evicted and why, which start, and which cannot. Nothing is changed.

A step is what one round of the operator leads to once the API server has taken in its quotas. Then the evicted \
pods go, owners create what their quotas admit, pending pods are bound where they fit, and the next step begins; \
where only time would change anything, when it has passed.

What manifests leave out:
  - Without an explicit namespace an object is in that of -n, or else in \"default\".
  - A pod with spec.nodeName runs, one without is pending, unless status.phase says otherwise.
  - A pod that runs and has no status.startTime started when it was created.
  - A pod belongs to the owner that its ownerReferences name as controller, by uid or else by kind and name.
  - A Deployment without a ReplicaSet has one of its own name; with one that wants pods, it is scaled to the \
Deployment's replicas.
  - A DaemonSet without status wants a pod on every node that its template admits.
  - An owner without some of its pods has created, before the first step, those that the quota of its namespace \
admits; in a namespace that has a Queue and no quota yet it waits for the first step.
  - A PodDisruptionBudget without status allows what the disruption controller would.
  - A pod without priority has that of its PriorityClass, or of the default one.
  - A namespace that no manifest describes has no labels but kubernetes.io/metadata.name, by which a parent \
queue may select it; one that is described has this label, too.
  - Objects without creationTimestamp are created at the time that the cluster is looked at.
  - A node without status.conditions is Ready; its room is status.allocatable, else status.capacity.
  - The ResourceQuota \"quotient\" of a namespace, with or without Quotient's label, is what its queue is allocated \
at the beginning; without status.hard, spec.hard is enforced. Other ResourceQuotas are limits.

Exit status: 0 when the input was understood, also if pods would be evicted; 2 when it was not, with a line for \
each problem that names file, object and field.";

const EXAMPLES: &str = "\
Examples:
  # What would happen next in the cluster that these files describe?
  kubectl quotient simulate -f cluster/

  # And in the end, when a third queue joins? Which pods does a rule keep?
  kubectl quotient simulate -f cluster/ -f new-queue.yaml --until-stable --explain

  # In the cluster as it is now?
  kubectl quotient simulate --live --until-stable

  # In a snapshot that a colleague sent?
  kubectl quotient simulate --snapshot prod.json.gz --until-stable

  # Which pods would go, for a script?
  kubectl quotient simulate -f cluster/ -o json | jq -r '.steps[].evictions[].pod'

  # Which cannot start in the end, and why?
  kubectl quotient simulate -f cluster/ --until-stable -o json \\
    | jq -r '.steps[-1].unmet[] | \"\\(.queue) \\(.what): \\(.pods) pods, \\(.message)\"'";

/// Reads, simulates and prints.
pub(crate) async fn run(args: &SimulateArgs, session: Session<'_>) -> Result<Outcome, CommandError> {
    let snapshot = args.source.read_all(session.connection).await?;
    let cluster = Cluster::of(&snapshot, args.now)?.warned();
    let progress = Progress::begin("playing the cluster");
    let simulation = simulate(&cluster, args.until_stable);
    drop(progress);
    if args.output.output != Format::Table {
        // The table shows them itself.
        for warning in stalled(&simulation) {
            eprintln!("warning: {warning}");
        }
    }
    let text = render(&cluster, &simulation, args.output.output, args.explain, session.screen.style)?;
    crate::output::print(&text)?;
    Ok(Outcome::Fine)
}

/// The cluster once controllers have created what nothing keeps them from: what a look at the cluster of manifests would
/// show. An observed one is shown as it is.
pub(crate) fn at_rest(mut cluster: Cluster) -> Cluster {
    if !cluster.is_observed {
        cluster.snapshot = steps::open(&cluster).0;
    }
    cluster
}

/// The Queues without a share, and what to do about each. No step changes that.
pub(crate) fn stalled(simulation: &Simulation) -> Vec<String> {
    let stalls = simulation.steps.first().into_iter().flat_map(|step| &step.plan.stalled);
    stalls
        .map(|(name, stall)| format!("Queue {name} has no share: {}: {}", stall.reason, stall.message))
        .collect()
}

/// The simulation as it is printed, with the pods that rules kept if `explain`.
pub(crate) fn render(
    cluster: &Cluster,
    simulation: &Simulation,
    format: Format,
    explain: bool,
    style: Style,
) -> anyhow::Result<String> {
    let report = Report::of(simulation, explain);
    let queues = simulation.steps.first().into_iter().flat_map(|step| step.plan.queues.keys());
    Answer {
        table: &|_| table::table(simulation, explain, style),
        document: &document("Simulation", cluster.snapshot.now, &cluster.source, report),
        names: queues.map(|queue| format!("queue.quotient.dev/{queue}")).collect(),
    }
    .text(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_or_explained() {
        assert_eq!(time("1970-01-01T01:00:00+01:00"), Ok(Timestamp::from_millis(0)));
        assert!(time("yesterday").unwrap_err().starts_with("write a time such as"));
    }
}
