//! `bench`: how fast Quotient is, and what it costs.

mod hostile;
mod scale;
mod size;
mod soak;
mod speed;

use std::time::Instant;

use anyhow::{bail, ensure};
use clap::{Parser, Subcommand};
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::Programs;

/// Measures Quotient on real control planes of its own, on loopback: on a machine that does nothing else.
#[derive(Debug, Parser)]
#[command(name = "bench", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Speed(speed::Speed),
    Scale(scale::Scale),
    Hostile(hostile::Hostile),
    Size(size::Size),
    Soak(soak::Soak),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    tokio::select! {
        ended = execute(Arguments::parse().command) => ended,
        // Dropping a test bed stops every process of it.
        _ = tokio::signal::ctrl_c() => bail!("interrupted; everything is stopped"),
    }
}

async fn execute(command: Command) -> anyhow::Result<()> {
    let narrator = Narrator::default();
    match command {
        Command::Speed(speed) => speed.execute(&narrator).await,
        Command::Scale(scale) => scale.execute(narrator).await,
        Command::Hostile(hostile) => hostile.execute(&narrator).await,
        Command::Size(size) => size.execute(&narrator).await,
        Command::Soak(soak) => soak.execute(&narrator).await,
    }
}

/// Builds the operator as it is shipped. Only numbers of such a build may be written into a page.
async fn build(narrator: &Narrator, write: bool) -> anyhow::Result<Programs> {
    ensure!(!write || !cfg!(debug_assertions), "--write is for the numbers of a release build");
    let begun = Instant::now();
    let programs = Programs::build().await?;
    narrator.done("the operator is built", begun);
    Ok(programs)
}

/// Shows a text of several lines.
fn show(narrator: &Narrator, text: &str) {
    narrator.line("");
    for line in text.lines() {
        narrator.line(&format!("   {line}"));
    }
}
