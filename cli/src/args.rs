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

/// What is asked. The long help of each command is beside its flags; a doc comment here would replace it.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(about = "Show which queue deserves, is allocated and uses what, and what is wrong")]
    Status(status::StatusArgs),
    #[command(about = "Explain why a pod, a workload or a queue is as it is")]
    #[command(visible_alias = "why")]
    Explain(explain::ExplainArgs),
    #[command(about = "List which queues, namespaces or workloads use most")]
    Top(top::TopArgs),
    #[command(about = "Print what Quotient did, in the order of time")]
    Events(events::EventsArgs),
    #[command(about = "Check the cluster, the operator, Queues, namespaces and workloads")]
    Check(check::CheckArgs),
    #[command(about = "Show what a change would do before you make it")]
    Diff(Box<diff::DiffArgs>),
    #[command(about = "Show what Quotient would do, step by step; nothing is changed")]
    Simulate(Box<simulate::SimulateArgs>),
    #[command(about = "Write everything that the operator reads into one file")]
    Snapshot(snapshot::SnapshotArgs),
    #[command(about = "Compute a recorded decision again, also with other settings")]
    Replay(replay::ReplayArgs),
    #[command(about = "Evict no pod from a queue or for it until a time")]
    Pause(pause::PauseArgs),
    #[command(about = "End a pause now")]
    Resume(pause::ResumeArgs),
    #[command(about = "Take one namespace out of Quotient; no pod is evicted")]
    Release(leaving::ReleaseArgs),
    #[command(about = "List what uninstalling Quotient would leave behind")]
    Uninstall(leaving::UninstallArgs),
    #[command(about = "Propose a Queue for every namespace from its use")]
    Init(propose::InitArgs),
    #[command(about = "Propose Queues for a cluster with workloads, and list what changes for them")]
    Adopt(propose::AdoptArgs),
    #[command(about = "Propose Queues from the objects of another system")]
    Migrate(migrate::MigrateArgs),
    #[command(about = "Print a script that completes the command line in a shell")]
    Completion(completion::CompletionArgs),
    #[command(about = "Print what the last word may become")]
    #[command(name = completion::COMPLETE, hide = true)]
    Complete(completion::WordsArgs),
    #[command(about = "Print the version of this command, of the cluster and of the operator")]
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
