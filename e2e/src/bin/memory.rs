//! `make memory`: the operator's start, memory and rest with 20,000 pods, on a real control plane.

use std::time::Instant;

use anyhow::{Context as _, ensure};
use clap::Parser;
use jiff::Timestamp;
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::{Operator, Programs, install_crds, workspace_root};
use quotient_e2e::scale::{ClusterSize, Machine, Report, fill, measure};
use quotient_e2e::testbed::{Options, TestBed};

/// Measures the operator on a large cluster: how soon it decides, what memory it holds, what it does at rest.
///
/// Fills a real control plane on loopback with nodes, Queues and running pods, starts the operator that was built
/// with the same profile as this program, watches it for a minute and a half, and prints a table. Takes some
/// minutes; with 20,000 pods about 3 GiB of memory.
#[derive(Debug, Parser)]
#[command(name = "memory", version)]
struct Args {
    /// Nodes of 20 cpu and 80Gi.
    #[arg(long, default_value_t = 1000, value_name = "COUNT")]
    nodes: u32,
    /// Namespaces with a Queue each.
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    queues: u32,
    /// Pods of 1 cpu and 4Gi, as many in each namespace.
    #[arg(long, default_value_t = 20_000, value_name = "COUNT")]
    pods: u32,
    /// Also write the numbers to docs/scale.md.
    #[arg(long)]
    write: bool,
    /// Leave everything running until Ctrl-C.
    #[arg(long)]
    keep: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let size = ClusterSize { nodes: args.nodes, queues: args.queues, pods: args.pods };
    size.check()?;
    ensure!(!args.write || !cfg!(debug_assertions), "--write is for the numbers of a release build");
    let mut narrator = Narrator::default();
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    let (report, operator, bed) = tokio::select! {
        ended = run(size, &mut narrator) => ended?,
        // Dropping the test bed stops every process of it.
        _ = &mut interrupted => anyhow::bail!("interrupted; everything is stopped"),
    };
    show(&report, &narrator);
    if args.write {
        let path = workspace_root().join("docs/scale.md");
        std::fs::write(&path, report.page()).with_context(|| format!("writing {}", path.display()))?;
    }
    if args.keep {
        narrator
            .line(&format!("It runs on until Ctrl-C: export KUBECONFIG={}", bed.kubeconfig_path().display()));
        let _ = interrupted.await;
    }
    operator.stop().await?;
    bed.stop().await?;
    Ok(())
}

async fn run(size: ClusterSize, narrator: &mut Narrator) -> anyhow::Result<(Report, Operator, TestBed)> {
    narrator.act("A full cluster");
    let begun = Instant::now();
    let programs = Programs::build().await?;
    narrator.done("the operator is built", begun);
    let begun = Instant::now();
    let bed = TestBed::start(Options::default()).await?;
    install_crds(&bed).await?;
    narrator.done("the control plane runs", begun);
    fill(&bed, size, narrator).await?;
    narrator.act("The operator starts");
    let (measured, operator) = measure(&bed, &programs.operator, narrator).await?;
    let report = Report { size, machine: Machine::this()?, measured, at: Timestamp::now() };
    Ok((report, operator, bed))
}

fn show(report: &Report, narrator: &Narrator) {
    narrator.line("");
    for line in report.table().lines() {
        narrator.line(&format!("   {line}"));
    }
    narrator.line("");
    for write in &report.measured.rest.writes {
        narrator.line(&format!("   written at rest: {write}"));
    }
}
