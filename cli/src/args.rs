//! The command line: every command, and the flags that all of them have.

use clap::{Parser, Subcommand};

use crate::commands::{
    check, completion, diff, events, explain, leaving, migrate, pause, propose, replay, simulate, snapshot,
    status, top, version,
};
use crate::source::ConnectionArgs;

/// Deserved shares of a cluster: what each queue gets, why, and what a change would do.
#[derive(Debug, Parser)]
#[command(name = "kubectl-quotient", bin_name = "kubectl quotient", version, arg_required_else_help = true)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,

    /// Print without colors. The variable `NO_COLOR` does the same.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,

    /// Print ASCII characters alone.
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
}

/// What is asked. The doc comment of a command is its help. It stands here because commands share arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show which queue deserves, is allocated and uses what, and what is wrong.
    ///
    /// Of a cluster the command reads the Queues, as the operator reported them, and if you may list them the nodes, the
    /// operator's Deployment and its Lease. Of a snapshot it shows the same; of manifests it computes what the operator would
    /// report.
    ///
    /// Exit code 1 if a queue is stalled, or starved for 5 minutes or longer.
    #[command(after_long_help = include_str!("help/status.txt"))]
    Status(status::StatusArgs),
    /// Explain why a pod, a workload or a queue is as it is.
    ///
    /// Why is a pod pending, why was it evicted, why do pods of a workload not exist, and why has a queue its share?
    ///
    /// The rights to view one namespace suffice. Of an eviction the command shows what the Queue's status remembers: the last
    /// 20 of each queue.
    ///
    /// Exit code 1 if pods cannot start until a person changes something.
    #[command(after_long_help = include_str!("help/explain.txt"), visible_alias = "why")]
    Explain(explain::ExplainArgs),
    /// List which queues, namespaces or workloads use most.
    ///
    /// Pods count as their quota counts them: by requests, until they are gone.
    ///
    /// Of a cluster the command reads Queues and nodes; for namespaces also pods, and for workloads also what creates them. -n
    /// bounds it to one namespace.
    #[command(after_long_help = include_str!("help/top.txt"))]
    Top(top::TopArgs),
    /// Print what Quotient did, in the order of time.
    ///
    /// Quotas that moved, pods that it evicted or would evict, and workloads that it scaled are events of the namespace, or
    /// with -A of all. Kubernetes keeps them for an hour unless the API server is set to keep them longer. Of a Queue the
    /// command prints the events on it, on pods of its namespace, and on pods that were evicted for it.
    #[command(after_long_help = include_str!("help/events.txt"))]
    Events(events::EventsArgs),
    /// Check the cluster, the operator, Queues, namespaces and workloads.
    ///
    /// The command finds what is missing, what would break, and what is configured against fair sharing. Each finding has an
    /// id, a fix and a section in docs/reference/checks.md.
    ///
    /// With -n only one namespace is looked at. Checks that need a right that you do not have, or that need a cluster while you
    /// look at files, are counted as not looked at. Nothing is changed, except by --measure.
    ///
    /// Exit code 1 if there is an error.
    #[command(after_long_help = include_str!("help/check.txt"))]
    Check(check::CheckArgs),
    /// Show what a change would do before you make it.
    ///
    /// The command prints shares before and after, evicted pods, and how long it takes. Nothing is changed.
    ///
    /// The operator's engine plays the cluster twice until nothing happens any more, without the change and with it; what
    /// differs is printed. Manifests are merged into objects of the same name, as kubectl apply would do. Those that name no
    /// namespace are in that of -n, or else in that of the context; with --snapshot it is "default".
    ///
    /// Exit code 1 if something happens that --fail-on names.
    #[command(after_long_help = include_str!("help/diff.txt"))]
    Diff(Box<diff::DiffArgs>),
    /// Show what Quotient would do, step by step; nothing is changed.
    ///
    /// The command reads the cluster (--live), a snapshot (--snapshot) or ordinary manifests (-f), and asks the same engine as
    /// the operator. Each step shows what every queue asks for, deserves, is allocated and uses, children below their parents.
    /// It names the pods that are evicted and why, those that start, and those that cannot.
    ///
    /// A step is what one round of the operator leads to once the API server has taken in its quotas. Then the evicted pods go,
    /// owners create what their quotas admit, pending pods are bound where they fit, and the next step begins. If only time
    /// would change anything, the next step begins when it has passed.
    ///
    /// Exit code 2 if the input was not understood, with a line for each problem that names file, object and field. Evictions
    /// do not change the exit code.
    #[command(after_long_help = include_str!("help/simulate.txt"))]
    Simulate(Box<simulate::SimulateArgs>),
    /// Write everything that the operator reads into one file.
    ///
    /// The file has compressed JSON of the API objects. Every other command takes it by --snapshot and then asks no cluster.
    /// Attach it to a bug report: the same file gives the same answer everywhere.
    ///
    /// Pods are read without their environments, commands, images and volumes; --redact leaves out those of workloads, too.
    /// With -n the file has one namespace, for which the right to view it suffices. Kinds that you may not list are named.
    /// Answers from such snapshots may differ from what the operator decides.
    #[command(after_long_help = include_str!("help/snapshot.txt"))]
    Snapshot(snapshot::SnapshotArgs),
    /// Compute a recorded decision again, also with other settings.
    ///
    /// Without --with the plan is the same, byte for byte. The command prints the pods that it evicted, their ranks, and the
    /// candidates that a rule kept.
    ///
    /// The operator keeps the last decisions that evicted pods, each with everything that it was made from, at most 20 and 4
    /// MiB. They are served beside the metrics: /decisions lists them, /decisions/NUMBER and /decisions/latest return a record.
    /// A record names the pods of all teams, so it needs the right to list all pods besides that to read the metrics.
    ///
    /// Exit code 1 if the plan differs. Only the version that decided computes the same plan.
    #[command(after_long_help = include_str!("help/replay.txt"))]
    Replay(replay::ReplayArgs),
    /// Evict no pod from a queue or for it until a time.
    ///
    /// Its quota does not shrink either. The command sets spec.pausedUntil. A pause of a parent queue covers its child queues.
    /// It ends by itself. Evictions that the API server has accepted go on. You need the verbs patch and share on
    /// queues.quotient.dev.
    #[command(after_long_help = include_str!("help/pause.txt"))]
    Pause(pause::PauseArgs),
    /// End a pause now.
    ///
    /// The command removes spec.pausedUntil.
    #[command(after_long_help = include_str!("help/resume.txt"))]
    Resume(pause::QueuesArgs),
    /// Take one namespace out of Quotient; no pod is evicted.
    ///
    /// The command deletes the Queues of the namespace, after a look whether that is safe. Kubernetes then deletes the quota and
    /// the LimitRange "quotient", because the Queue owns them. Pods run on. Pods that wait gated are let in, also while the
    /// operator is down.
    ///
    /// The command refuses where something would stay behind or other queues would lose their share, and says what to do first.
    /// You need the verbs delete and share on queues.quotient.dev, and for gated pods the verb patch on pods.
    #[command(after_long_help = include_str!("help/release.txt"))]
    Release(leaving::ReleaseArgs),
    /// List what uninstalling Quotient would leave behind.
    ///
    /// The commands that uninstall Quotient are listed, too. Nothing is changed.
    ///
    /// Exit code 1 if something would stay that restricts workloads: a quota or a LimitRange that no Queue owns, a workload
    /// whose size Quotient lowered, or a gated pod.
    #[command(after_long_help = include_str!("help/uninstall.txt"))]
    Uninstall(leaving::UninstallArgs),
    /// Propose a Queue for every namespace from its use.
    ///
    /// Each namespace that has pods and no Queue gets one in mode Observe. Nothing is applied.
    ///
    /// The weight is the percentage of the cluster that the pods of the namespace request of the resource that they use most of,
    /// at least 1. A namespace with a ResourceQuota is guaranteed half of what its pods request, because the quota is a
    /// promise; all halves together fit into the cluster. ResourceQuotas that exist stay and act as limits. With -n only one
    /// namespace gets a Queue.
    #[command(after_long_help = include_str!("help/init.txt"))]
    Init(propose::InitArgs),
    /// Propose Queues for a cluster with workloads, and list what changes for them.
    ///
    /// Each namespace that has pods and no Queue gets one in mode Observe, from its quotas and its use. Nothing is applied.
    ///
    /// If all ResourceQuotas together fit into the cluster, each becomes the guaranteed amounts of its Queue. The team keeps
    /// what it has today and lends what it does not use. Otherwise the weight is the percentage of the cluster that the quota,
    /// or without one the use, stands for. The ResourceQuotas stay and act as limits until you delete them. With -n only one
    /// namespace gets a Queue.
    #[command(after_long_help = include_str!("help/adopt.txt"))]
    Adopt(propose::TargetArgs),
    /// Propose Queues from the objects of another system.
    ///
    /// The command prints a Queue for each queue, quota or tenant. Nothing is applied.
    ///
    /// Every leaf queue is in mode Observe: Quotient reports on it, and does nothing else. Fields without an equivalent are
    /// named in comments, and under unmapped with -o json. Objects come from the cluster or from -f; a queue that no object
    /// ties to a namespace is taken to be that of the namespace of its name.
    #[command(after_long_help = include_str!("help/migrate.txt"))]
    Migrate(migrate::MigrateArgs),
    /// Print a script that completes the command line in a shell.
    ///
    /// kubectl completes kubectl quotient by asking a program called kubectl_complete-quotient. That is this program under
    /// another name: link it.
    #[command(after_long_help = include_str!("help/completion.txt"))]
    Completion(completion::CompletionArgs),
    /// Print what the last word may become.
    #[command(name = completion::COMPLETE, hide = true)]
    Complete(completion::WordsArgs),
    /// Print the version of this command, of the cluster and of the operator.
    ///
    /// The versions of the cluster and of the operator are shown with --server. That of the operator needs the right to read its
    /// Deployment.
    #[command(after_long_help = include_str!("help/version.txt"))]
    Version(version::VersionArgs),
}

const EXIT_CODES: &str = "\
Exit codes: 0 fine; 1 a finding, such as a starved queue; 2 the command line or its input is not understood; \
3 the cluster cannot be reached or forbids it; 4 --wait timed out.";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn several_files_may_follow_one_flag() {
        let args = Args::try_parse_from(["q", "simulate", "-f", "a", "b", "-f", "-", "-o", "json"]).unwrap();
        let Command::Simulate(simulate) = args.command else { panic!("another command") };
        assert_eq!(simulate.source.files, ["a", "b", "-"].map(PathBuf::from));
        assert!(!simulate.until_stable);
        assert!(Args::try_parse_from(["q", "simulate"]).is_err());
        assert!(Args::try_parse_from(["q", "diff", "--snapshot", "x"]).is_err(), "without a change");
        assert!(Args::try_parse_from(["q", "simulate", "--live", "-f", "a"]).is_err());
    }

    /// Each is tried: it has to be a command line that is understood.
    #[test]
    fn the_examples_of_every_help_are_command_lines() {
        let mut seen = 0;
        for command in Args::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let Some(help) = command.get_after_long_help() else {
                panic!("{} has no examples", command.get_name())
            };
            let help = help.to_string();
            assert!(command.get_long_about().is_some(), "{} does not say what it does", command.get_name());
            let lines = help.lines().map(str::trim).filter_map(|line| line.strip_prefix("kubectl quotient "));
            for line in lines {
                let line = line.split(" | ").next().unwrap_or_default();
                let line = line.split(" > ").next().unwrap_or_default().trim_end_matches(['\\', ' ']);
                let words = std::iter::once("q").chain(line.split(' ').filter(|word| !word.is_empty()));
                if let Err(error) = Args::try_parse_from(words.clone()) {
                    panic!("{}: {error}", words.collect::<Vec<_>>().join(" "));
                }
                seen += 1;
            }
        }
        assert!(seen >= 5, "{seen}");
    }
}
