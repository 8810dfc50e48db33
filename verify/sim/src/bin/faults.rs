//! `faults`: plays the campaign, or one perturbation again.

// `println!` panics where the reader has gone.
#![deny(clippy::print_stdout)]

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Parser;
use quotient_operator::print::print;
use quotient_sim::campaign::{
    Campaign, Family, Occasion, Perturbation, Place, Summary, Verdict, named, workloads,
};

/// Plays workloads on a simulated cluster with the real operator, and lets every write of it meet every fault.
///
/// A failure is printed with its line of text; `--replay` plays it again, the same byte by byte.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only this workload; may be given several times.
    #[arg(long, value_name = "NAME")]
    workload: Vec<String>,
    /// Only families, and named perturbations, whose name begins so; may be given several times.
    #[arg(long, value_name = "NAME")]
    family: Vec<String>,
    /// How many executions of every enumerated fault: each has the cluster's delays drawn anew.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    seeds: u64,
    /// How many executions of every named perturbation, at least.
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    named_seeds: u64,
    /// How many pairs and how many swarms of each workload.
    #[arg(long, value_name = "COUNT", default_value_t = 400)]
    chance: u64,
    /// Play only so many, spread over all.
    #[arg(long, value_name = "COUNT")]
    sample: Option<usize>,
    /// How many at once; all cores if left out.
    #[arg(long, value_name = "COUNT")]
    threads: Option<usize>,
    /// Play this one again and print everything that happened.
    #[arg(long, value_name = "ID")]
    replay: Option<String>,
    /// Name the workloads and families, and how many perturbations there are.
    #[arg(long)]
    list: bool,
    /// Print the table of the named perturbations as Markdown, and play nothing.
    #[arg(long)]
    named: bool,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    if let Some(id) = &arguments.replay {
        return replay(id);
    }
    if arguments.named {
        print(&named::markdown())?;
        return Ok(ExitCode::SUCCESS);
    }
    let all_workloads = arguments.workload.is_empty();
    let begins_so = |name: &str| {
        arguments.family.is_empty() || arguments.family.iter().any(|wanted| name.starts_with(wanted))
    };
    let mut families = Family::all();
    families.retain(|family| begins_so(&family.to_string()));
    let mut cases = workloads::all();
    cases
        .retain(|case| all_workloads || arguments.workload.iter().any(|wanted| wanted == case.workload.name));
    let mut named = named::all();
    named.retain(|named| all_workloads && begins_so(named.name));
    if cases.is_empty() || (families.is_empty() && named.is_empty()) {
        bail!("nothing of that name; `--list` names workloads and families");
    }
    let began = Instant::now();
    let mut campaign = match Campaign::new(cases, &families, arguments.seeds, arguments.chance) {
        Ok(campaign) => campaign.with_named(&named, arguments.seeds.max(arguments.named_seeds)),
        Err(failure) => bail!("{failure}"),
    };
    if let Some(count) = arguments.sample {
        campaign.sample(count);
    }
    if arguments.list {
        list(&campaign, &families)?;
        return Ok(ExitCode::SUCCESS);
    }
    let threads =
        arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get));
    eprintln!("{} executions on {threads} threads", campaign.len());
    let printed = AtomicUsize::new(0);
    let summary = campaign.run(threads, &|all, summary| report(all, summary, &printed, began));
    if arguments.markdown {
        print(&format!("{}\n", summary.markdown()))?;
    } else {
        print(&format!("{summary} in {:.0?}\n", began.elapsed()))?;
    }
    for failure in &summary.failures {
        print(&format!("{failure}\n"))?;
    }
    if summary.failed > 0 {
        print("`faults --replay ID` plays one again\n")?;
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Says how far it is, and what was found as soon as it was.
fn report(all: usize, summary: &Summary, printed: &AtomicUsize, began: Instant) {
    let before = printed.fetch_max(summary.failures.len(), Ordering::Relaxed);
    for failure in summary.failures.iter().skip(before) {
        eprintln!("{failure}");
    }
    if summary.played.is_multiple_of(500) {
        eprintln!("{:>6} of {all}, {} failed, {:.0?}", summary.played, summary.failed, began.elapsed());
    }
}

fn list(campaign: &Campaign, families: &[Family]) -> std::io::Result<()> {
    for case in workloads::all() {
        print(&format!("{:<16} {}\n", case.workload.name, case.about))?;
    }
    for family in families {
        let place = match family.place() {
            Place::Write => "at every write",
            Place::Event(_) => "at every event",
            Place::Chance => "by chance",
        };
        print(&format!("{family:<24} {place}\n"))?;
    }
    for named in named::all() {
        print(&format!("{:<24} {}\n", named.name, named.what))?;
    }
    print(&format!("{} perturbations\n", campaign.len())).map(drop)
}

fn replay(id: &str) -> anyhow::Result<ExitCode> {
    if let Some(occasion) = Occasion::parse(id) {
        return printed(id, &occasion.trial.run());
    }
    let perturbation: Perturbation = id.parse().map_err(anyhow::Error::msg).context("--replay")?;
    let verdict = Campaign::replay(&perturbation).map_err(anyhow::Error::msg)?;
    printed(id, &verdict)
}

/// Prints everything that happened, and what is wrong with it.
fn printed(id: &str, verdict: &Verdict) -> anyhow::Result<ExitCode> {
    print(&verdict.trace.text())?;
    for finding in verdict.findings() {
        print(&format!("{finding}\n"))?;
    }
    print(&format!("{id}: {} evictions, at rest since {:?}\n", verdict.evictions, verdict.settled))?;
    Ok(if verdict.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
