//! The numbers as people read them: a table for the terminal, a page for the documentation.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;

use super::measure::by_resource;
use super::{ClusterSize, Histogram, Machine, Measurement};

/// What was measured on one cluster.
#[derive(Clone, Debug)]
pub struct Report {
    /// The cluster.
    pub size: ClusterSize,
    /// The numbers.
    pub measured: Measurement,
}

/// One line: what, how much on each cluster, and how much it should be.
struct Row {
    what: &'static str,
    seen: Vec<String>,
    target: &'static str,
}

impl Report {
    /// The numbers for a terminal.
    pub fn table(&self) -> String {
        let rows = rows(std::slice::from_ref(self));
        let seen = |row: &Row| row.seen.concat();
        let first = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or_default();
        let second = rows.iter().map(|row| seen(row).chars().count()).max().unwrap_or_default();
        rows.iter().fold(String::new(), |mut text, row| {
            let line = format!("{:<first$}  {:<second$}  {}", row.what, seen(row), row.target);
            let _ = writeln!(text, "{}", line.trim_end());
            text
        })
    }
}

/// The numbers of several clusters side by side, as Markdown.
pub fn section(reports: &[Report], machine: Machine, at: Timestamp) -> String {
    let bytes = reports.iter().map(|report| report.measured.pod_bytes).max().unwrap_or_default();
    let mut text = format!(
        "Written by `make memory WRITE=1` on {}, on a machine with {machine} that the whole\n\
         control plane shares. A pod is up to {} bytes of JSON.\n\n| |",
        at.strftime("%Y-%m-%d"),
        grouped(&bytes),
    );
    for ClusterSize { pods, queues, nodes } in reports.iter().map(|report| report.size) {
        let _ = write!(
            text,
            " {} pods, {} queues, {} nodes |",
            grouped(&pods),
            grouped(&queues),
            grouped(&nodes)
        );
    }
    let _ = writeln!(text, " to reach |\n|---|{}---|", "---|".repeat(reports.len()));
    for row in rows(reports) {
        let _ = writeln!(text, "| {} | {} | {} |", row.what, row.seen.join(" | "), row.target);
    }
    text
}

fn rows(reports: &[Report]) -> Vec<Row> {
    let row = |what, target, of: &dyn Fn(&Measurement) -> String| Row {
        what,
        seen: reports.iter().map(|report| of(&report.measured)).collect(),
        target,
    };
    let writes = |counts: &BTreeMap<String, usize>| {
        let writes = counts.iter().map(|(resource, count)| format!("{} {resource}", grouped(count)));
        if counts.is_empty() { "none".to_owned() } else { writes.collect::<Vec<_>>().join(", ") }
    };
    vec![
        row("start until every kind is listed", "", &|measured| seconds(measured.ready)),
        row("start until the first cycle has ended", "< 10 s with 20,000 pods", &|measured| {
            seconds(measured.first_cycle)
        }),
        row("that cycle, its quota writes included", "", &|measured| mean(measured.cycle)),
        row("its plan", "", &|measured| mean(measured.plan)),
        row("processor time until then", "", &|measured| seconds(measured.start.cpu)),
        row("memory after the first cycle", "", &|measured| measured.start.memory.to_string()),
        row("memory 30 s later, at rest", "< 256 MiB", &|measured| measured.rest.memory.to_string()),
        row("writes until then, Lease apart", "", &|measured| writes(&measured.writes)),
        row("writes in a minute at rest, Lease apart", "0", &|measured| {
            measured.rest.writes.len().to_string()
        }),
        row("writes of the Lease in that minute", "", &|measured| measured.rest.lease_writes.to_string()),
        row("cycles in that minute", "", &|measured| mean(measured.rest.cycle)),
        row("processor time in that minute", "< 0.6 s, 1 % of a core", &|measured| {
            seconds(measured.rest.cpu)
        }),
        row("writes while 600 pods are replaced, ten a second", "nobody evicted", &|measured| {
            writes(&by_resource(&measured.churn.writes))
        }),
        row("cycles meanwhile", "", &|measured| mean(measured.churn.cycle)),
        row("their plans", "", &|measured| mean(measured.churn.plan)),
        row("processor time meanwhile", "", &|measured| seconds(measured.churn.cpu)),
        row("memory before that", "", &|measured| measured.churn.memory.to_string()),
    ]
}

fn seconds(duration: Duration) -> String {
    format!("{:.2} s", duration.as_secs_f64())
}

/// `12.3 ms`, or `2 of 3.1 ms each`.
fn mean(histogram: Histogram) -> String {
    let Some(mean) = histogram.mean() else { return "none".to_owned() };
    let tenths = mean.as_micros() / 100;
    let each = format!("{}.{} ms", tenths / 10, tenths % 10);
    if histogram.count == 1 { each } else { format!("{} of {each} on average", histogram.count) }
}

/// `20000` as `20,000`.
fn grouped(number: &impl ToString) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && digits.len().saturating_sub(index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::{Minute, ProcessNumbers, ResidentMemory};

    #[test]
    fn numbers_are_grouped() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (20_000, "20,000"), (1_234_567, "1,234,567")];
        assert!(cases.iter().all(|(number, text)| grouped(number) == *text));
    }

    #[test]
    fn cycles_are_counted_when_there_is_more_than_one() {
        let of = |count, millis| mean(Histogram { count, sum: Duration::from_millis(millis) });
        assert_eq!([of(0, 0), of(1, 12), of(2, 25)], ["none", "12.0 ms", "2 of 12.5 ms on average"]);
    }

    #[test]
    fn the_section_has_every_line_of_the_table() {
        let memory = ResidentMemory { now: 30 * 1024, peak: 40 * 1024 };
        let minute = Minute {
            memory,
            writes: Vec::new(),
            lease_writes: 30,
            cycle: Histogram { count: 2, sum: Duration::from_millis(6) },
            plan: Histogram { count: 2, sum: Duration::from_millis(2) },
            cpu: Duration::from_millis(50),
        };
        let measured = Measurement {
            pod_bytes: 5000,
            ready: Duration::from_secs(1),
            first_cycle: Duration::from_millis(1500),
            cycle: Histogram { count: 1, sum: Duration::from_millis(400) },
            plan: Histogram { count: 1, sum: Duration::from_millis(10) },
            start: ProcessNumbers { memory, cpu: Duration::from_millis(800) },
            writes: [("resourcequotas".to_owned(), 100), ("queues/status".to_owned(), 120)].into(),
            rest: minute.clone(),
            churn: minute,
        };
        let report = Report { size: ClusterSize { nodes: 1000, queues: 100, pods: 20_000 }, measured };
        let page = section(
            &[report.clone(), report.clone()],
            Machine { cores: 2, memory: 24 },
            "2026-01-02T03:04:05Z".parse().unwrap(),
        );
        let heads =
            "| | 20,000 pods, 100 queues, 1,000 nodes | 20,000 pods, 100 queues, 1,000 nodes | to reach |";
        assert!(page.contains(heads), "{page}");
        let writes = "120 queues/status, 100 resourcequotas";
        assert!(page.contains(&format!("| writes until then, Lease apart | {writes} | {writes} |  |")));
        let table = report.table();
        assert_eq!(table.lines().count(), 17);
        assert!(table.lines().all(|line| page.contains(line.split("  ").next().unwrap())), "{table}");
    }
}
