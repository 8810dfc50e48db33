//! `make soak`: pods come and go for an hour, and nothing may grow.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Parser;
use quotient_e2e::bench::{Measures, churn, play_with};
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::Programs;

/// After the last Job, for how long it is watched.
const AFTERMATH: Duration = Duration::from_secs(30);
/// A full list takes more memory for a moment. With the default there would be one in one half of an hour and two in the
/// other one; so there are some in every part that is compared.
const RELIST: &str = "--relist-seconds=300";
/// How often it says that it still goes on.
const TELL: Duration = Duration::from_secs(300);

/// Lets Jobs come and go on a real control plane, and checks that the operator's memory stays flat, that nobody is evicted,
/// and that what it writes stays within its bounds.
#[derive(Debug, Parser)]
#[command(name = "soak", version)]
struct Args {
    /// For how long.
    #[arg(long, default_value_t = 60, value_name = "COUNT")]
    minutes: u32,
    /// Queues, of two cpus each.
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    queues: u32,
    /// Jobs of a second that start every second.
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    per_second: u32,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    ensure!(args.minutes > 0 && args.queues > 0 && args.per_second > 0, "at least one of each");
    let narrator = Narrator::default();
    let programs = Programs::build().await?;
    let lasts = Duration::from_secs(60).saturating_mul(args.minutes);
    let scenario = churn(args.queues, 2, args.per_second, lasts);
    narrator.line(&format!("   {}", scenario.says));
    let begun = Instant::now();
    let measures = tokio::select! {
        played = play_with(&scenario, &programs, &[RELIST], AFTERMATH) => played?.0,
        never = tell(&narrator, begun) => match never {},
        _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted; everything is stopped"),
    };
    narrator.done("it is over", begun);
    show(&measures, &narrator);
    check(&measures, &args)
}

async fn tell(narrator: &Narrator, begun: Instant) -> Infallible {
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
    narrator.line(&format!("     evictions: {}", measures.victims.saturating_add(measures.later_evictions)));
    for (kind, count) in &measures.writes {
        narrator.line(&format!("     {kind}: {count}"));
    }
}

fn check(measures: &Measures, args: &Args) -> anyhow::Result<()> {
    let (early, late) = measures.memory_early_and_late();
    ensure!(late <= early.saturating_add(early / 10), "memory grew from {early} to {late} KiB");
    let evictions = measures.victims.saturating_add(measures.later_evictions);
    ensure!(evictions == 0, "{evictions} evictions, though there is room for everybody");
    let statuses = measures.writes.get("patch queues/status").copied().unwrap_or_default();
    // Every queue every 15 s, and some at once.
    let most = args.queues.saturating_mul(args.minutes).saturating_mul(6);
    ensure!(statuses <= most, "{statuses} statuses, at most {most} were expected");
    Ok(())
}
