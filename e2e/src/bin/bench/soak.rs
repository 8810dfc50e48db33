//! `bench soak`: pods come and go for an hour, and nothing may grow.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use quotient_e2e::bench::speed::{Measures, churn, play};
use quotient_e2e::demo::Narrator;

/// After the last Job, for how long it is watched.
const AFTERMATH: Duration = Duration::from_secs(30);
/// A full list takes more memory for a moment. With the default there would be one in one half of an hour and two in the
/// other one; so there are some in every part that is compared.
const RELIST: &str = "--relist-seconds=300";
/// Queues, of two cpus each.
const QUEUES: u32 = 100;
/// Jobs of a second that start every second.
const PER_SECOND: u32 = 5;
/// How often it says that it still goes on.
const TELL: Duration = Duration::from_secs(300);

/// Lets Jobs come and go on a real control plane, and checks that the operator's memory stays flat, that no pod is evicted,
/// and that what it writes stays within its bounds.
#[derive(Debug, Args)]
pub(super) struct Soak {
    /// For how long.
    #[arg(long, default_value_t = 60, value_name = "COUNT")]
    minutes: u32,
}

impl Soak {
    pub(super) async fn execute(self, narrator: &Narrator) -> anyhow::Result<()> {
        ensure!(self.minutes > 0, "at least one minute");
        let programs = crate::build(narrator, false).await?;
        let lasts = Duration::from_secs(60).saturating_mul(self.minutes);
        let scenario = churn(QUEUES, 2, PER_SECOND, lasts);
        narrator.line(&format!("   {}", scenario.says));
        let begun = Instant::now();
        let measures = tokio::select! {
            played = play(&scenario, &programs, &[RELIST], AFTERMATH) => played?.0,
            never = report(narrator, begun) => match never {},
        };
        narrator.done("it is over", begun);
        show(&measures, narrator);
        self.check(&measures)
    }

    fn check(&self, measures: &Measures) -> anyhow::Result<()> {
        let (early, late) = measures.memory_early_and_late();
        ensure!(late <= early.saturating_add(early / 10), "memory grew from {early} to {late} KiB");
        let evictions = measures.all_evictions();
        ensure!(evictions == 0, "{evictions} evictions, though all pods fit");
        let statuses = measures.writes.get("patch queues/status").copied().unwrap_or_default();
        // Every queue every 15 s, and some at once.
        let most = QUEUES.saturating_mul(self.minutes).saturating_mul(6);
        ensure!(statuses <= most, "{statuses} statuses, at most {most} were expected");
        Ok(())
    }
}

async fn report(narrator: &Narrator, begun: Instant) -> Infallible {
    loop {
        tokio::time::sleep(TELL).await;
        narrator.line(&format!("     {} minutes", begun.elapsed().as_secs() / 60));
    }
}

fn show(measures: &Measures, narrator: &Narrator) {
    let (early, late) = measures.memory_early_and_late();
    narrator
        .line(&format!("     memory: at most {early} KiB in the second quarter, {late} KiB in the last one"));
    let each: Vec<String> = measures.memory_in_parts(12).iter().map(u64::to_string).collect();
    narrator.line(&format!("     twelfth by twelfth: {}", each.join(", ")));
    narrator.line(&format!("     processor time: {} ms", measures.cpu));
    narrator.line(&format!("     evictions: {}", measures.all_evictions()));
    for (kind, count) in &measures.writes {
        narrator.line(&format!("     {kind}: {count}"));
    }
}
