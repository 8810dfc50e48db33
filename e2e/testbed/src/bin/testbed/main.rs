//! `testbed`: a real Kubernetes control plane on this machine, for people and scripts.

// `println!` panics where the reader has gone.
#![deny(clippy::print_stdout)]

mod build;
mod down;
mod kubectl;
mod nodes;
mod run;
mod running;
mod up;

use std::io::{self, ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Starts a real Kubernetes control plane as plain processes on loopback: etcd, API server, controller manager and
/// scheduler, with pretended nodes (kwok) on which pods run without containers.
///
/// It needs neither containers nor root, takes about two seconds to start and leaves nothing behind. The programs
/// are built from source with Go the first time (about ten minutes) and kept in the cache directory.
#[derive(Debug, Parser)]
#[command(name = "testbed", version, after_help = EXAMPLES)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
The cache directory is $QUOTIENT_CACHE, else $XDG_CACHE_HOME/quotient, else ~/.cache/quotient.

Examples:
  # A control plane with three nodes, until Ctrl-C
  testbed up --nodes 3

  # In another terminal: talk to it, end it
  testbed kubectl get nodes
  testbed down

  # Two at once
  testbed up --name one & testbed up --name two &
  testbed kubectl --name two get pods --all-namespaces

  # One for a single command, whose exit status is passed on
  testbed run --nodes 1 -- sh -c 'kubectl create deployment web --image=web && kubectl rollout status deployment/web'";

#[derive(Debug, Subcommand)]
enum Command {
    Up(up::Up),
    Down(down::Down),
    Run(run::Run),
    Kubectl(kubectl::Kubectl),
    Build(build::Build),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Up(up) => up.execute(),
        Command::Down(down) => down.execute(),
        Command::Run(run) => run.execute(),
        Command::Kubectl(kubectl) => kubectl.execute(),
        Command::Build(build) => build.execute(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("testbed: {error:#}");
        ExitCode::FAILURE
    })
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no error, and what is left is done without it.
fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}") {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
