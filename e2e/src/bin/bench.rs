//! `make bench-e2e`: how fast a share moves on a real control plane.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Parser;
use jiff::Timestamp;
use quotient_e2e::bench::{Scenario, Series, headline, page, play, scenarios, table, timeline_plot};
use quotient_e2e::demo::Narrator;
use quotient_e2e::measured;
use quotient_e2e::quotient::{Programs, workspace_root};
use quotient_e2e::scale::Machine;

/// Measures how fast a share moves on a real control plane, from the API server's side only.
///
/// Each run starts a control plane of its own on loopback, fills it, waits until nothing moves, lets somebody ask for what
/// is theirs, and takes its times from a watch of all pods and from the audit log. All scenarios take about an hour with
/// five runs each; measure on a machine that does nothing else.
#[derive(Debug, Parser)]
#[command(name = "bench", version)]
struct Args {
    /// Only these scenarios; `half` plays all whose name begins with it. See --list.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// How often each is played.
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    runs: u32,
    /// For how many seconds to look on after the outcome is there.
    #[arg(long, default_value_t = 30, value_name = "SECONDS")]
    aftermath: u64,
    /// Name the scenarios and what happens in them.
    #[arg(long)]
    list: bool,
    /// Write docs/performance.md, its plots, the raw results and the README's table; scenarios that are not played keep their results.
    #[arg(long)]
    write: bool,
    /// Play nothing: write page, plots and table anew from the raw results in docs/performance/results.json.
    #[arg(long)]
    redraw: bool,
    /// Where to keep raw results as JSON, written after every scenario.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let narrator = Narrator::default();
    let chosen = choose(&args.scenarios)?;
    if args.list {
        for scenario in &chosen {
            narrator.line(&format!("{:<18} {}", scenario.name, scenario.says));
        }
        return Ok(());
    }
    if args.redraw {
        return redraw();
    }
    ensure!(args.runs > 0, "--runs: at least one");
    ensure!(!args.write || !cfg!(debug_assertions), "--write is for the numbers of a release build");
    let begun = Instant::now();
    let programs = Programs::build().await?;
    narrator.done("the operator is built", begun);
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    for scenario in &chosen {
        let series = tokio::select! {
            ended = measure(scenario, &programs, &args, &narrator) => ended?,
            // Dropping a test bed stops every process of it.
            _ = &mut interrupted => bail!("interrupted; everything is stopped"),
        };
        narrator.line(&format!("   {}", table(&series)));
        if let Some(file) = &args.json {
            keep(file, series.clone())?;
        }
        if args.write {
            publish(series)?;
        }
    }
    Ok(())
}

fn choose(names: &[String]) -> anyhow::Result<Vec<Scenario>> {
    let all = scenarios();
    if names.is_empty() {
        return Ok(all);
    }
    let unknown =
        names.iter().find(|name| !all.iter().any(|scenario| scenario.name.starts_with(name.as_str())));
    if let Some(unknown) = unknown {
        bail!("no scenario is called {unknown}; --list names them");
    }
    Ok(all
        .into_iter()
        .filter(|scenario| names.iter().any(|name| scenario.name.starts_with(name.as_str())))
        .collect())
}

async fn measure(
    scenario: &Scenario,
    programs: &Programs,
    args: &Args,
    narrator: &Narrator,
) -> anyhow::Result<Series> {
    narrator.line("");
    narrator.line(&format!("   {}: {}", scenario.name, scenario.says));
    let mut series = Series { name: scenario.name.clone(), says: scenario.says.clone(), ..Series::default() };
    for run in 1..=args.runs {
        let begun = Instant::now();
        let (measures, timeline) = play(scenario, programs, Duration::from_secs(args.aftermath))
            .await
            .with_context(|| format!("run {run} of {}", scenario.name))?;
        narrator.done(&format!("run {run} of {}", args.runs), begun);
        series.runs.push(measures);
        series.timelines.push(timeline);
    }
    Ok(series)
}

/// Replaces the results of that scenario in `file`, and returns all, in the order of the list.
fn keep(file: &PathBuf, series: Series) -> anyhow::Result<Vec<Series>> {
    let mut all: Vec<Series> = match std::fs::read(file) {
        Ok(text) => serde_json::from_slice(&text).with_context(|| format!("reading {}", file.display()))?,
        Err(_) => Vec::new(),
    };
    all.retain(|other| other.name != series.name);
    all.push(series);
    let order: Vec<String> = scenarios().into_iter().map(|scenario| scenario.name).collect();
    all.retain(|series| order.contains(&series.name));
    all.sort_by_key(|series| order.iter().position(|name| *name == series.name));
    std::fs::write(file, serde_json::to_string(&all)?)
        .with_context(|| format!("writing {}", file.display()))?;
    Ok(all)
}

fn publish(series: Series) -> anyhow::Result<()> {
    let directory = results_directory();
    std::fs::create_dir_all(&directory)?;
    draw(&keep(&directory.join("results.json"), series)?)
}

fn redraw() -> anyhow::Result<()> {
    let file = results_directory().join("results.json");
    let text = std::fs::read(&file).with_context(|| format!("reading {}", file.display()))?;
    draw(&serde_json::from_slice::<Vec<Series>>(&text)?)
}

fn results_directory() -> PathBuf {
    workspace_root().join("docs/performance")
}

/// Page, plots, and the README's table.
fn draw(all: &[Series]) -> anyhow::Result<()> {
    for series in all {
        timeline_plot(series, &results_directory().join(format!("{}.svg", series.name)))?;
    }
    let page = page(all, Machine::this()?, Timestamp::now());
    measured::write(&workspace_root().join("docs/performance.md"), "make bench-e2e", &page)?;
    measured::write(&workspace_root().join("README.md"), "make bench-e2e", &headline(all))
}
