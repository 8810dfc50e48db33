//! `bench size`: how large the image is, that its programs load nothing, and what the operator holds when nothing happens.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use jiff::Timestamp;
use quotient_e2e::bench::{Machine, ProcessNumbers, Table, measured_by, write};
use quotient_e2e::demo::Narrator;
use quotient_e2e::image::{Linkage, linkage};
use quotient_e2e::quotient::{Operator, Programs, Stage, install_chart, quotas, workspace_root};
use quotient_e2e::testbed::{Options, TestBed, until_is};
use serde_json::json;

/// The most that each program may take, in bytes.
const LARGEST: u64 = 20_000_000;
/// The most memory that the operator may hold when nothing happens, in kibibytes.
const MOST: u64 = 40 * 1024;
/// How many Queues there are.
const QUEUES: usize = 10;
/// How long nothing happens before its memory is read.
const REST: Duration = Duration::from_secs(30);

/// Builds the programs of the image, looks at them, and runs the operator with ten Queues. Fails when a program or
/// the operator's memory is larger than promised.
#[derive(Debug, Args)]
pub(super) struct Size {
    /// Also write the numbers to docs/how-to/install.md.
    #[arg(long)]
    write: bool,
}

impl Size {
    pub(super) async fn execute(self, narrator: &Narrator) -> anyhow::Result<()> {
        let programs = Programs::build_static().await?;
        let (operator, command_line) = (bytes(&programs.operator)?, bytes(&programs.command_line)?);
        let memory = at_rest(programs).await?.memory;
        let mut table = Table::new(["", "measured", "at most"]);
        table.row(["`quotient-operator`, static", &megabytes(operator), "20 MB"]);
        table.row(["`kubectl-quotient`, static", &megabytes(command_line), "20 MB"]);
        let image = megabytes(operator.saturating_add(command_line));
        table.row(["image, uncompressed", &image, ""]);
        table.row(["memory at rest", &memory.to_string(), "40 MiB"]);
        crate::show(narrator, &table.text());
        ensure!(operator <= LARGEST, "the operator's program is larger than 20 MB");
        ensure!(command_line <= LARGEST, "the command line is larger than 20 MB");
        ensure!(memory.now <= MOST, "the operator holds more than 40 MiB at rest");
        if self.write {
            let text = format!(
                "{}. It is the static release build of the image, with {QUEUES}\n\
                 Queues on a real control plane, {} s after the last change.\n\n{}",
                measured_by("make size", Machine::this()?, Timestamp::now()),
                REST.as_secs(),
                table.markdown(),
            );
            write(&workspace_root().join("docs/how-to/install.md"), "make size", &text)?;
        }
        Ok(())
    }
}

/// The size of a program that loads nothing.
fn bytes(program: &Path) -> anyhow::Result<u64> {
    let file = std::fs::read(program).with_context(|| format!("reading {}", program.display()))?;
    let linkage = linkage(&file).with_context(|| format!("reading {}", program.display()))?;
    ensure!(
        linkage == Linkage::Static,
        "{} needs a loader: it would not start in the image",
        program.display()
    );
    Ok(u64::try_from(file.len())?)
}

fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

async fn at_rest(programs: Programs) -> anyhow::Result<ProcessNumbers> {
    let bed = TestBed::start(Options::default()).await?;
    bed.add_node("node-1", &[("cpu", "20"), ("memory", "40Gi")]).await?;
    install_chart(&bed).await?;
    let stage = Stage { bed, programs };
    for number in 1..=QUEUES {
        stage.queue(&format!("team-{number}"), json!({"weight": 1})).await?;
    }
    let operator = Operator::start(&stage.bed, &stage.programs).await?;
    until_is("every Queue has its quota", QUEUES, async || Ok(quotas(&stage.bed).await?.len())).await?;
    stage.until_quiet_for(Duration::from_secs(3)).await?;
    tokio::time::sleep(REST).await;
    let numbers = ProcessNumbers::of(operator.process().pid())?;
    operator.stop().await?;
    stage.bed.stop().await?;
    Ok(numbers)
}
