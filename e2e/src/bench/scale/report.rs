//! The numbers as people read them: a table for the terminal, a page for the documentation.

use std::collections::BTreeMap;
use std::iter::once;
use std::time::Duration;

use jiff::Timestamp;

use super::measure::by_resource;
use super::{ClusterSize, Histogram, Measurement};
use crate::bench::{Machine, Table, measured_by};

/// The numbers of several clusters side by side.
pub fn table(reports: &[Measurement]) -> Table {
    let sizes = reports.iter().map(|Measurement { size: ClusterSize { pods, queues, nodes }, .. }| {
        format!("{} pods, {} queues, {} nodes", grouped(pods), grouped(queues), grouped(nodes))
    });
    let columns = once(String::new()).chain(sizes).chain(once("to reach".to_owned()));
    let mut table = Table::new(columns);
    for (what, target, of) in ROWS {
        let seen = reports.iter().map(of);
        table.row(once(what.to_owned()).chain(seen).chain(once(target.to_owned())));
    }
    table
}

/// The same as a part of a page.
pub fn section(reports: &[Measurement], machine: Machine, at: Timestamp) -> String {
    let bytes = reports.iter().map(|report| report.pod_bytes).max().unwrap_or_default();
    format!(
        "{} that the whole\n\
         control plane shares. A pod is up to {} bytes of JSON.\n\n{}",
        measured_by("make memory", machine, at),
        grouped(&bytes),
        table(reports).markdown(),
    )
}

/// A row: what, how much it should be, and how much it is.
type Row = (&'static str, &'static str, fn(&Measurement) -> String);

const ROWS: [Row; 21] = [
    ("start until every kind is listed", "", |run| seconds(run.ready)),
    ("start until the first cycle has ended", "< 10 s with 20,000 pods", |run| seconds(run.first_cycle)),
    ("that cycle, its quota writes included", "", |run| mean(run.cycle)),
    ("its plan", "", |run| mean(run.plan)),
    ("processor time until then", "", |run| seconds(run.start.cpu)),
    ("memory after the first cycle", "", |run| run.start.memory.to_string()),
    ("memory 30 s later, at rest", "< 256 MiB", |run| run.rest.memory.to_string()),
    ("writes until then, Lease apart", "", |run| writes(&run.writes)),
    ("writes in a minute at rest, Lease apart", "0", |run| run.rest.writes.len().to_string()),
    ("writes of the Lease in that minute", "", |run| run.rest.lease_writes.to_string()),
    ("cycles in that minute", "", |run| mean(run.rest.cycle)),
    ("processor time in that minute", "< 0.6 s, 1 % of a core", |run| seconds(run.rest.cpu)),
    ("`kubectl quotient status -A`", "< 0.3 s with 20,000 pods", |run| seconds(run.commands.status)),
    ("`kubectl quotient explain` of a pod", "< 0.5 s with 20,000 pods", |run| seconds(run.commands.explain)),
    ("`kubectl quotient diff` of a weight", "< 3 s with 20,000 pods", |run| seconds(run.commands.diff)),
    ("the same with `--snapshot`", "< 3 s with 20,000 pods", |run| seconds(run.commands.diff_of_snapshot)),
    ("writes while 600 pods are replaced, ten a second", "no pod evicted", |run| {
        writes(&by_resource(&run.churn.writes))
    }),
    ("cycles meanwhile", "", |run| mean(run.churn.cycle)),
    ("their plans", "", |run| mean(run.churn.plan)),
    ("processor time meanwhile", "", |run| seconds(run.churn.cpu)),
    ("memory before that", "", |run| run.churn.memory.to_string()),
];

fn writes(counts: &BTreeMap<String, usize>) -> String {
    let writes = counts.iter().map(|(resource, count)| format!("{} {resource}", grouped(count)));
    if counts.is_empty() { "none".to_owned() } else { writes.collect::<Vec<_>>().join(", ") }
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
}
