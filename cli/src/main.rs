//! `kubectl-quotient`: what Quotient would do, and why, from the command line.
//!
//! ```text
//!  files ──► manifests ──► index ──► engine: settle, advance, … ──► report ──► table, JSON or YAML
//!                               controllers ──┘ (what new pods look like, what budgets allow)
//! ```
//!
//! **Architecture invariant:** `simulate` decides nothing itself. It reads manifests into the operator's index
//! and asks the operator's engine, so what it prints is what the operator would do.

mod args;
mod controllers;
mod manifests;
mod output;
mod simulate;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let args::Command::Simulate(simulate) = args::Args::parse().command;
    let Err(error) = simulate::run(&simulate) else { return ExitCode::SUCCESS };
    if let Some(problems) = error.downcast_ref::<manifests::Problems>() {
        eprintln!("{problems}");
        return ExitCode::from(2);
    }
    eprintln!("error: {error:#}");
    ExitCode::FAILURE
}
