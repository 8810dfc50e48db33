//! The numbers as people read them.

use std::fmt::Write as _;

use jiff::Timestamp;

use super::summary::Figure;
use super::{Measures, Series, Step};
use crate::scale::Machine;

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

/// One line a scenario, for a terminal.
pub fn table(series: &Series) -> String {
    let mut text = format!("{:<20}", series.name);
    for (name, of) in TIMES {
        if let Some(figure) = series.figure(of) {
            let _ = write!(text, "  {name} {}", seconds(figure));
        }
    }
    let _ = write!(text, "  victims {}  writes {}", victims(series), writes(series));
    text
}

/// The measured part of the page, as Markdown, plots included, which lie in `performance/`.
pub fn page(all: &[Series], machine: Machine, at: Timestamp) -> String {
    let mut page = format!(
        "Written by `make bench-e2e WRITE=1` on {}, on a machine with {machine} that\n\
         API server, etcd, controllers, scheduler, pretended kubelets and the operator share. Raw results:\n\
         [results.json](performance/results.json).\n\n",
        at.strftime("%Y-%m-%d"),
    );
    page.push_str("## Scenarios\n\n| scenario | runs | what happens |\n|---|---:|---|\n");
    for series in all {
        let _ = writeln!(page, "| {} | {} | {} |", series.name, series.runs.len(), series.says);
    }
    page.push_str("\n## Times\n\nSeconds.\n\n| scenario |");
    for (name, _) in TIMES {
        let _ = write!(page, " {name} |");
    }
    page.push_str("\n|---|");
    page.push_str(&"---:|".repeat(TIMES.len()));
    for series in all {
        let _ = write!(page, "\n| {} |", series.name);
        for (_, of) in TIMES {
            let _ = write!(page, " {} |", series.figure(of).map_or_else(|| "–".to_owned(), seconds));
        }
    }
    page.push_str(
        "\n\n## What it costs\n\n\
         *Victims*: evictions, of the fewest that could have done. *Later*: evictions in the 30 s after. *Writes*: of the\n\
         operator for each pod that went (for the whole run where none did), events included, the Lease not. *Others*: what the\n\
         control plane itself wrote, likewise. Processor time of the operator likewise, memory at its highest.\n\n\
         | scenario | victims | later | writes | others | processor time | memory |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for series in all {
        let later = series.figure(|run| Some(run.later_evictions.into())).map_or(0, |figure| figure.worst);
        let memory = series.figure(|run| Some(run.peak_memory)).map_or(0, |figure| figure.worst);
        let _ = writeln!(
            page,
            "| {} | {} | {later} | {} | {} | {} ms | {} MiB |",
            series.name,
            victims(series),
            writes(series),
            per_pod(series, |run| run.all_writes_of_others().into()),
            per_pod(series, |run| run.cpu),
            memory.div_ceil(1024),
        );
    }
    page.push_str(
        "\nBy kind, in the run at the median:\n\n| scenario | writes of the operator |\n|---|---|\n",
    );
    for series in all {
        let Some(run) = series.runs.get(series.runs.len() / 2) else { continue };
        let kinds: Vec<_> = run.writes.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let _ = writeln!(page, "| {} | {} |", series.name, kinds.join(", "));
    }
    page.push_str("\n## Where the time goes\n\nOf the run at the median, milliseconds since the demand: when a step happened first, for the\nmiddle one, and last.\n");
    for series in all.iter().filter(|series| series.runs.iter().any(|run| run.victims > 0)) {
        let Some(timeline) = series.typical() else { continue };
        let _ = write!(
            page,
            "\n### {}\n\n![{0}](performance/{0}.svg)\n\n| step | first | middle | last |\n|---|---:|---:|---:|\n",
            series.name
        );
        for step in Step::ALL {
            let Some([first, middle, last]) = timeline.span(step) else { continue };
            let _ = writeln!(page, "| {} | {first} | {middle} | {last} |", step.says());
        }
    }
    page
}

/// The scenarios that the front page shows.
const FRONT: [&str; 6] =
    ["newcomer", "half-deployment-100", "half-jobs-500", "one-big-pod", "guaranteed-gang", "thousand-queues"];

/// A short table for the front page.
pub fn headline(all: &[Series]) -> String {
    let mut text =
        "| what happens | first eviction | all running | evictions | writes each | memory at most |\n\
                    |---|---:|---:|---:|---:|---:|\n"
            .to_owned();
    for series in all.iter().filter(|series| FRONT.contains(&series.name.as_str())) {
        let median = |of: fn(&Measures) -> Option<u64>| {
            series
                .figure(of)
                .map_or_else(|| "–".to_owned(), |figure| format!("{} s", hundredths(figure.median)))
        };
        let memory = series.figure(|run| Some(run.peak_memory)).map_or(0, |figure| figure.worst);
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} MiB |",
            series.says,
            median(|run| run.first_eviction),
            median(|run| run.last_running),
            victims(series),
            writes(series),
            memory.div_ceil(1024),
        );
    }
    text
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
}
