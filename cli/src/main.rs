//! `kubectl-quotient`: what a cluster shares, why, and what a change would do, from the command line.
//!
//! ```text
//!  cluster ───────┐
//!  snapshot file ─┼─► snapshot ──► typed objects ──► index ──► engine ──► a command's answer ──► table, JSON or YAML
//!  manifests ─────┘        ▲ change                                 ▲
//!                          └─ `diff`                   controllers ─┘ (what new pods look like, what budgets allow)
//! ```
//!
//! **Architecture invariant:** no command decides anything. Objects go into the operator's index, and the operator's
//! engine is asked, so what is printed is what the operator would do. What the operator says itself, in the status of a
//! Queue, is shown as it is.

// `eprintln!` panics where the reader has gone.
#![deny(clippy::print_stderr)]

mod args;
mod commands;
mod controllers;
mod exit;
mod manifests;
mod objects;
mod output;
mod proposals;
mod queues;
mod snapshot;
mod source;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

use args::{Args, Command};
use commands::completion::command_line;
use commands::propose::Basis;
use exit::{CommandError, Outcome};
use output::{Screen, note};
use source::ConnectionArgs;

fn main() -> ExitCode {
    let args = Args::parse_from(command_line(std::env::args_os().collect()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let result = match runtime {
        Ok(runtime) => runtime.block_on(run(&args)),
        Err(error) => Err(CommandError::Other(error.into())),
    };
    match result {
        Ok(outcome) => outcome.into(),
        Err(error) => {
            note(&error.text());
            ExitCode::from(error.code())
        }
    }
}

/// Where a command runs: the flags of the cluster that it asks, and the place to which it prints.
#[derive(Clone, Copy)]
struct Session<'a> {
    connection: &'a ConnectionArgs,
    screen: Screen,
}

async fn run(args: &Args) -> Result<Outcome, CommandError> {
    let connection = &args.connection;
    let session = Session { connection, screen: Screen::of_stdout(args.no_color, args.ascii) };
    match &args.command {
        Command::Status(args) => commands::status::run(args, session).await,
        Command::Explain(args) => commands::explain::run(args, session).await,
        Command::Top(args) => commands::top::run(args, session).await,
        Command::Events(args) => commands::events::run(args, session).await,
        Command::Init(args) => commands::propose::run(&args.target, Basis::Usage, session).await,
        Command::Adopt(args) => commands::propose::run(args, Basis::Quotas, session).await,
        Command::Migrate(args) => commands::migrate::run(args, connection).await,
        Command::Completion(args) => commands::completion::run(args, &mut Args::command()),
        Command::Complete(args) => commands::completion::complete(args, Args::command()),
        Command::Version(args) => commands::version::run(args, connection).await,
        Command::Check(args) => commands::check::run(args, session).await,
        Command::Diff(args) => commands::diff::run(args, session).await,
        Command::Pause(args) => commands::pause::pause(args, connection).await,
        Command::Resume(args) => commands::pause::resume(args, connection).await,
        Command::Release(args) => commands::leaving::run_release(args, session).await,
        Command::Uninstall(args) => commands::leaving::run_uninstall(args, session).await,
        Command::Simulate(args) => commands::simulate::run(args, session).await,
        Command::Replay(args) => commands::replay::run(args, session).await,
        Command::Snapshot(args) => commands::snapshot::run(args, connection).await,
    }
}
