//! The numbers as people read them.

use std::iter::once;

use jiff::Timestamp;

use super::summary::Figure;
use super::{Measures, Series, Step};
use crate::bench::{Machine, Table, measured_by};

/// The columns of the table of times: what they are called, and where they come from.
type Column = (&'static str, fn(&Measures) -> Option<u64>);

const TIMES: [Column; 6] = [
    ("first eviction", |run| run.first_eviction),
    ("first pod runs", |run| run.first_running),
    ("half of them", |run| run.half_running),
    ("all of them", |run| run.last_running),
    ("room idle, median", |run| run.idle_median),
    ("room idle, worst", |run| run.idle_worst),
];

/// When what happens, by scenario.
fn times(all: &[Series]) -> Table {
    let names = TIMES.map(|(name, _)| format!(">{name}"));
    let mut table = Table::new(once("scenario".to_owned()).chain(names));
    for series in all {
        let figures = TIMES.map(|(_, of)| series.figure(of).map_or_else(|| "–".to_owned(), seconds));
        table.row(once(series.name.clone()).chain(figures));
    }
    table
}

/// What that costs.
fn costs(all: &[Series]) -> Table {
    let mut table =
        Table::new(["scenario", ">victims", ">later", ">writes", ">others", ">processor time", ">memory"]);
    for series in all {
        let later = series.figure(|run| Some(run.later_evictions.into())).map_or(0, |figure| figure.worst);
        table.row([
            series.name.clone(),
            victims(series),
            later.to_string(),
            writes(series),
            per_pod(series, |run| run.all_writes_of_others().into()),
            format!("{} ms", per_pod(series, |run| run.cpu)),
            memory(series),
        ]);
    }
    table
}

/// One scenario, for a terminal.
pub fn summary(series: &Series) -> String {
    let all = std::slice::from_ref(series);
    [Some(times(all)), Some(costs(all)), steps(series)]
        .into_iter()
        .flatten()
        .map(|table| table.text())
        .collect()
}

/// The measured part of the page, as Markdown, plots included, which lie in `performance/`.
pub fn page(all: &[Series], machine: Machine, at: Timestamp) -> String {
    let mut scenarios = Table::new(["scenario", ">runs", "what happens"]);
    let mut kinds = Table::new(["scenario", "writes of the operator"]);
    for series in all {
        scenarios.row([&series.name, &series.runs.len().to_string(), &series.says]);
        let Some(run) = series.runs.get(series.runs.len() / 2) else { continue };
        let writes: Vec<_> = run.writes.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        kinds.row([&series.name, &writes.join(", ")]);
    }
    format!(
        "{}.\n\
         API server, etcd, controllers, scheduler, pretended kubelets and the operator share it. Raw results:\n\
         [results.json](performance/results.json).\n\n\
         ## Scenarios\n\n{}\n\
         ## Times\n\nSeconds.\n\n{}\n\
         ## What it costs\n\n\
         *Victims*: evictions, of the fewest that could have done. *Later*: evictions in the 30 s after. *Writes*: of the\n\
         operator for each pod that went (for the whole run where none did), events included, the Lease not. *Others*: what the\n\
         control plane itself wrote, likewise. Processor time of the operator likewise, memory at its highest.\n\n{}\n\
         By kind, in the run at the median:\n\n{}\n\
         ## Where the time goes\n\nOf the run at the median, milliseconds since the demand: when a step happened first, for the\n\
         middle one, and last.\n{}",
        measured_by("make bench-e2e", machine, at),
        scenarios.markdown(),
        times(all).markdown(),
        costs(all).markdown(),
        kinds.markdown(),
        all.iter().filter_map(timeline).collect::<String>(),
    )
}

/// Where the time goes in a scenario in which pods start, with a picture.
fn timeline(series: &Series) -> Option<String> {
    let (name, table) = (&series.name, steps(series)?);
    Some(format!("\n### {name}\n\n![{name}](performance/{name}.svg)\n\n{}", table.markdown()))
}

/// Where the time goes in a scenario in which pods start: when each step happened in its typical run.
fn steps(series: &Series) -> Option<Table> {
    let timeline = series.typical()?;
    let mut table = Table::new(["step", ">first", ">middle", ">last"]);
    for (step, says) in Step::ALL {
        let Some([first, middle, last]) = timeline.span(step) else { continue };
        table.row([says.to_owned(), first.to_string(), middle.to_string(), last.to_string()]);
    }
    Some(table)
}

/// The most of all runs.
fn memory(series: &Series) -> String {
    let peak = series.figure(|run| Some(run.peak_memory)).map_or(0, |figure| figure.worst);
    format!("{} MiB", peak.div_ceil(1024))
}

/// `1.23 (1.50)`.
fn seconds(Figure { median, worst }: Figure) -> String {
    format!("{} ({})", hundredths(median), hundredths(worst))
}

fn hundredths(millis: u64) -> String {
    let hundredths = millis.saturating_add(5) / 10;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// `50 of 50`, the worst of all runs.
fn victims(series: &Series) -> String {
    let most = series.runs.iter().map(|run| run.victims).max().unwrap_or_default();
    let fewest = series.runs.first().and_then(|run| run.fewest);
    fewest.map_or_else(|| most.to_string(), |fewest| format!("{most} of {fewest}"))
}

fn writes(series: &Series) -> String {
    per_pod(series, |run| run.all_writes().into())
}

/// For each victim with one digit after the point; of the whole run where there is none.
fn per_pod(series: &Series, of: impl Fn(&Measures) -> u64) -> String {
    let tenths = series.figure(|run| {
        let all = of(run);
        Some(all.saturating_mul(10).checked_div(u64::from(run.victims)).unwrap_or(all.saturating_mul(10)))
    });
    tenths.map_or_else(String::new, |Figure { median, .. }| format!("{}.{}", median / 10, median % 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(seconds(Figure { median: 1234, worst: 12_345 }), "1.23 (12.35)");
        let run = Measures {
            victims: 4,
            fewest: Some(4),
            writes: [("patch x".to_owned(), 10)].into(),
            ..Measures::default()
        };
        let series = Series { runs: vec![run], ..Series::default() };
        assert_eq!((victims(&series).as_str(), writes(&series).as_str()), ("4 of 4", "2.5"));
    }

    #[test]
    fn the_published_results_can_be_read() {
        let path = crate::quotient::workspace_root().join("docs/evidence/performance/results.json");
        let all: Vec<Series> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let known: Vec<String> = super::super::scenarios().into_iter().map(|one| one.name).collect();
        let unknown = all.iter().find(|series| !known.contains(&series.name));
        assert_eq!(unknown.map(|series| &series.name), None);
    }
}
