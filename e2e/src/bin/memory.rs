//! `make memory`: the operator's start, memory and rest with 20,000 and 100,000 pods, on a real control plane.

use std::time::Instant;

use anyhow::ensure;
use clap::Parser;
use jiff::Timestamp;
use quotient_e2e::demo::Narrator;
use quotient_e2e::measured;
use quotient_e2e::quotient::{Programs, install_crds, workspace_root};
use quotient_e2e::scale::{ClusterSize, Machine, Report, fill, measure, section};
use quotient_e2e::testbed::{Options, TestBed};

/// Measures the operator on a large cluster: how soon it decides, what memory it holds, what it does at rest.
///
/// Fills a real control plane on loopback with nodes, Queues and running pods, starts the operator as it is shipped,
/// watches it at rest and while pods are replaced, and prints a table. Takes some minutes; about 3 GiB of memory with 20,000 pods,
/// and 10 GiB with 100,000.
#[derive(Debug, Parser)]
#[command(name = "memory", version)]
struct Args {
    /// How large the clusters are. Nodes are as large as their pods need.
    #[arg(default_values = ["20000/1000/1000", "100000/1000/1000"], value_name = "PODS/QUEUES/NODES")]
    sizes: Vec<ClusterSize>,
    /// Also write the numbers to docs/scale.md.
    #[arg(long)]
    write: bool,
    /// Leave the last one running until Ctrl-C.
    #[arg(long)]
    keep: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    ensure!(!args.write || !cfg!(debug_assertions), "--write is for the numbers of a release build");
    let narrator = Narrator::default();
    tokio::select! {
        ended = run(&args, narrator) => ended,
        // Dropping the test bed stops every process of it.
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted; everything is stopped"),
    }
}

async fn run(args: &Args, mut narrator: Narrator) -> anyhow::Result<()> {
    let begun = Instant::now();
    let programs = Programs::build().await?;
    narrator.done("the operator is built", begun);
    let mut reports = Vec::new();
    for (number, size) in args.sizes.iter().enumerate() {
        narrator.act(&format!("A full cluster: {size}"));
        let begun = Instant::now();
        let bed = TestBed::start(Options::default()).await?;
        install_crds(&bed).await?;
        narrator.done("the control plane runs", begun);
        fill(&bed, *size, &narrator).await?;
        narrator.act("The operator starts");
        let (measured, operator) = measure(&bed, *size, &programs.operator, &narrator).await?;
        let report = Report { size: *size, measured };
        show(&report, &narrator);
        reports.push(report);
        if args.keep && number.saturating_add(1) == args.sizes.len() {
            let config = bed.kubeconfig_path();
            narrator.line(&format!("It runs on until Ctrl-C: export KUBECONFIG={}", config.display()));
            std::future::pending::<()>().await;
        }
        operator.stop().await?;
        bed.stop().await?;
    }
    if args.write {
        let path = workspace_root().join("docs/scale.md");
        measured::write(&path, "make memory", &section(&reports, Machine::this()?, Timestamp::now()))?;
    }
    Ok(())
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
