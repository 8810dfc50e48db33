//! `bench hostile`: what one tenant can cost the operator.

use std::time::Duration;

use anyhow::{bail, ensure};
use clap::Args;
use jiff::Timestamp;
use quotient_e2e::bench::hostile::{
    CONNECTIONS, Crowd, Effort, LARGE_PODS, MOST_MEMORY, QUEUE_JOBS, measure, memory,
};
use quotient_e2e::bench::{Machine, Table, measured_by, write};
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::{Programs, Stage, install_chart, workspace_root};
use quotient_e2e::testbed::{Options, TestBed};

/// How often both clusters are tried, in turn, and the least time of each counts: a machine may be busy for a while.
const TURNS: usize = 4;

/// What it is, the time in the friendly cluster and the time in the hostile one.
type Compared = (&'static str, Duration, Duration);

/// Compares a cluster with a hostile tenant to a friendly one of the same size, and measures the operator's memory with large
/// pods, QueueJobs that never fit, and idle connections. Fails when it takes more than twice the time, or more than 512 MiB.
#[derive(Debug, Args)]
pub(super) struct Hostile {
    /// Also write the numbers to docs/evidence/scale.md.
    #[arg(long)]
    write: bool,
}

impl Hostile {
    pub(super) async fn execute(self, narrator: &Narrator) -> anyhow::Result<()> {
        let programs = crate::build(narrator, self.write).await?;
        let on_a_bed_of =
            async |crowd| on_a_bed(&programs, async |stage| measure(stage, crowd, narrator).await).await;
        let mut friendly = on_a_bed_of(Crowd::Friendly).await?;
        let mut hostile = on_a_bed_of(Crowd::Hostile).await?;
        for _ in 1..TURNS {
            if exceeded(&friendly, &hostile).is_none() {
                break;
            }
            friendly = friendly.least(on_a_bed_of(Crowd::Friendly).await?);
            hostile = hostile.least(on_a_bed_of(Crowd::Hostile).await?);
        }
        let peak = on_a_bed(&programs, async |stage| memory(stage, narrator).await).await?;
        let (times, memory) = (times(&friendly, &hostile), most_memory(peak));
        crate::show(narrator, &times.text());
        crate::show(narrator, &memory.text());
        if self.write {
            let text = format!(
                "{}.\n\n{}\n{}",
                measured_by("make hostile", Machine::this()?, Timestamp::now()),
                times.markdown(),
                memory.markdown(),
            );
            write(&workspace_root().join("docs/evidence/scale.md"), "make hostile", &text)?;
        }
        if let Some((what, friendly, hostile)) = exceeded(&friendly, &hostile) {
            bail!("{what}: {hostile:?}, and {friendly:?} without the tenant");
        }
        ensure!(peak <= MOST_MEMORY, "the operator took {peak} KiB");
        Ok(())
    }
}

fn most_memory(peak: u64) -> Table {
    let mut table = Table::new(["all at once", "most memory", "bound"]);
    let crowd = format!(
        "{LARGE_PODS} pods of 1 MB, {QUEUE_JOBS} QueueJobs that never fit, {CONNECTIONS} idle connections"
    );
    table.row([crowd, format!("{} MiB", peak / 1024), format!("{} MiB", MOST_MEMORY / 1024)]);
    table
}

async fn on_a_bed<T>(
    programs: &Programs,
    happens: impl AsyncFnOnce(&Stage) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let bed = TestBed::start(Options::default()).await?;
    install_chart(&bed).await?;
    let stage = Stage { bed, programs: programs.clone() };
    let outcome = happens(&stage).await?;
    stage.bed.stop().await?;
    Ok(outcome)
}

/// The first number that the tenant makes more than twice as large.
fn exceeded(friendly: &Effort, hostile: &Effort) -> Option<Compared> {
    compared(friendly, hostile)
        .into_iter()
        .find(|(_, friendly, hostile)| *hostile > friendly.saturating_mul(2))
}

fn compared(friendly: &Effort, hostile: &Effort) -> [Compared; 4] {
    [
        ("start to the first cycle", friendly.start, hostile.start),
        ("processor time until then", friendly.start_cpu, hostile.start_cpu),
        ("processor time for 300 replaced pods", friendly.events_cpu, hostile.events_cpu),
        ("processor time for each plan meanwhile", friendly.plan, hostile.plan),
    ]
}

fn times(friendly: &Effort, hostile: &Effort) -> Table {
    let mut table = Table::new(["", "friendly", "hostile"]);
    for (what, friendly, hostile) in compared(friendly, hostile) {
        table.row([what.to_owned(), format!("{friendly:.1?}"), format!("{hostile:.1?}")]);
    }
    table.row(["plans meanwhile".to_owned(), friendly.plans.to_string(), hostile.plans.to_string()]);
    table.row([
        "most memory".to_owned(),
        format!("{} MiB", friendly.peak / 1024),
        format!("{} MiB", hostile.peak / 1024),
    ]);
    table
}
