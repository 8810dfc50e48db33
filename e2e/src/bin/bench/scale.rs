//! `bench scale`: the operator's start, memory and rest with 20,000 and 100,000 pods, on a real control plane.

use std::time::Instant;

use clap::Args;
use jiff::Timestamp;
use quotient_e2e::bench::scale::{ClusterSize, Measurement, fill, measure, section, table};
use quotient_e2e::bench::{Machine, write};
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::{Stage, install_crds, workspace_root};
use quotient_e2e::testbed::{Options, TestBed};

/// Measures the operator on a large cluster: how soon it decides, what memory it holds, what it does at rest, and how soon the
/// command line answers.
///
/// Fills a real control plane on loopback with nodes, Queues and running pods, starts the operator as it is shipped,
/// watches it at rest and while pods are replaced, and prints a table. Takes some minutes; about 3 GiB of memory with 20,000
/// pods, and 10 GiB with 100,000.
#[derive(Debug, Args)]
pub(super) struct Scale {
    /// How large the clusters are. Nodes are as large as their pods need.
    #[arg(default_values = ["20000/1000/1000", "100000/1000/1000"], value_name = "PODS/QUEUES/NODES")]
    sizes: Vec<ClusterSize>,
    /// Also write the numbers to docs/evidence/scale.md.
    #[arg(long)]
    write: bool,
}

impl Scale {
    pub(super) async fn execute(self, mut narrator: Narrator) -> anyhow::Result<()> {
        let programs = crate::build(&narrator, self.write).await?;
        let mut reports = Vec::new();
        for size in &self.sizes {
            narrator.act(&format!("A full cluster: {size}"));
            let begun = Instant::now();
            let bed = TestBed::start(Options::default()).await?;
            install_crds(&bed).await?;
            let stage = Stage { bed, programs: programs.clone() };
            narrator.done("the control plane runs", begun);
            fill(&stage, *size, &narrator).await?;
            narrator.act("The operator starts");
            let (report, operator) = measure(&stage, *size, &narrator).await?;
            show(&report, &narrator);
            reports.push(report);
            operator.stop().await?;
            stage.bed.stop().await?;
        }
        if self.write {
            let path = workspace_root().join("docs/evidence/scale.md");
            write(&path, "make memory", &section(&reports, Machine::this()?, Timestamp::now()))?;
        }
        Ok(())
    }
}

fn show(report: &Measurement, narrator: &Narrator) {
    crate::show(narrator, &table(std::slice::from_ref(report)).text());
    narrator.line("");
    for write in &report.rest.writes {
        narrator.line(&format!("   written at rest: {write}"));
    }
}
