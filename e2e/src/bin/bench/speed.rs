//! `bench speed`: how fast a share moves on a real control plane.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use jiff::Timestamp;
use quotient_e2e::bench::speed::{Scenario, Series, page, play, scenarios, summary, timeline_plot};
use quotient_e2e::bench::{Machine, write};
use quotient_e2e::demo::Narrator;
use quotient_e2e::quotient::{Programs, workspace_root};

/// How long it looks on after the outcome is there.
const AFTERMATH: Duration = Duration::from_secs(30);

/// Measures how fast a share moves on a real control plane, from the API server's side only.
///
/// Each run starts a control plane of its own on loopback, fills it, waits until nothing moves, lets a queue ask for its
/// share, and takes its times from a watch of all pods and from the audit log. All scenarios take about an hour with
/// five runs each; measure on a machine that does nothing else.
#[derive(Debug, Args)]
pub(super) struct Speed {
    /// Only these scenarios; `half` plays all whose name begins with it. See --list.
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<String>,
    /// How often each is played.
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    runs: u32,
    /// Name the scenarios and what happens in them.
    #[arg(long)]
    list: bool,
    /// Write docs/evidence/performance.md, its plots and the raw results; scenarios that are not played keep their results.
    #[arg(long)]
    write: bool,
}

impl Speed {
    pub(super) async fn execute(self, narrator: &Narrator) -> anyhow::Result<()> {
        let chosen = choose(&self.scenarios)?;
        if self.list {
            for scenario in &chosen {
                narrator.line(&format!("{:<18} {}", scenario.name, scenario.says));
            }
            return Ok(());
        }
        ensure!(self.runs > 0, "--runs: at least one");
        let programs = crate::build(narrator, self.write).await?;
        for scenario in &chosen {
            let series = self.measure(scenario, &programs, narrator).await?;
            crate::show(narrator, &summary(&series));
            if self.write {
                publish(series)?;
            }
        }
        Ok(())
    }

    async fn measure(
        &self,
        scenario: &Scenario,
        programs: &Programs,
        narrator: &Narrator,
    ) -> anyhow::Result<Series> {
        narrator.say(&format!("{}: {}", scenario.name, scenario.says));
        let mut series =
            Series { name: scenario.name.clone(), says: scenario.says.clone(), ..Series::default() };
        for run in 1..=self.runs {
            let begun = Instant::now();
            let (measures, timeline) = play(scenario, programs, &[], AFTERMATH)
                .await
                .with_context(|| format!("run {run} of {}", scenario.name))?;
            narrator.done(&format!("run {run} of {}", self.runs), begun);
            series.runs.push(measures);
            series.timelines.push(timeline);
        }
        Ok(series)
    }
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

/// Replaces the results of that scenario among those of all, which are in the order of the list, and writes the page.
fn publish(series: Series) -> anyhow::Result<()> {
    let mut all = results().context("reading the results so far")?;
    all.retain(|other| other.name != series.name);
    all.push(series);
    let order: Vec<String> = scenarios().into_iter().map(|scenario| scenario.name).collect();
    all.retain(|series| order.contains(&series.name));
    all.sort_by_key(|series| order.iter().position(|name| *name == series.name));
    std::fs::write(directory().join("results.json"), serde_json::to_string(&all)?)?;
    draw(&all)
}

fn results() -> anyhow::Result<Vec<Series>> {
    Ok(serde_json::from_slice(&std::fs::read(directory().join("results.json"))?)?)
}

fn directory() -> PathBuf {
    workspace_root().join("docs/evidence/performance")
}

/// Page and plots.
fn draw(all: &[Series]) -> anyhow::Result<()> {
    for series in all {
        timeline_plot(series, &directory().join(format!("{}.svg", series.name)))?;
    }
    let page = page(all, Machine::this()?, Timestamp::now());
    write(&workspace_root().join("docs/evidence/performance.md"), "make bench-e2e", &page)
}
