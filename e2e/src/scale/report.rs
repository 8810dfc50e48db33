//! The numbers as people read them: a table for the terminal, a page for the documentation.

use std::fmt::Write as _;
use std::time::Duration;

use jiff::Timestamp;

use super::{ClusterSize, Histogram, Machine, Measurement};

/// What was measured, where and when.
#[derive(Clone, Debug)]
pub struct Report {
    /// The cluster.
    pub size: ClusterSize,
    /// The machine.
    pub machine: Machine,
    /// The numbers.
    pub measured: Measurement,
    /// When.
    pub at: Timestamp,
}

/// One line: what, how much, and how much it should be.
type Row = [String; 3];

impl Report {
    /// The numbers for a terminal.
    pub fn table(&self) -> String {
        let rows = self.rows();
        let width = |column: fn(&Row) -> &String| rows.iter().map(|row| column(row).chars().count()).max();
        let (first, second) = (width(|[what, ..]| what), width(|[_, seen, _]| seen));
        let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
        rows.iter().fold(String::new(), |mut text, [what, seen, target]| {
            let line = format!("{what:<first$}  {seen:<second$}  {target}");
            let _ = writeln!(text, "{}", line.trim_end());
            text
        })
    }

    /// A page of Markdown.
    pub fn page(&self) -> String {
        let ClusterSize { nodes, queues, pods } = self.size;
        let mut page = format!(
            "# Scale\n\n\
             What the operator costs on a large cluster. Written by `make memory` on {}, on a machine with\n\
             {} that the whole control plane shares.\n\n\
             A real control plane has {} nodes (20 cpu, 80Gi each) and {} namespaces with a Queue each. In them\n\
             {} pods of 1 cpu and 4Gi run and fill the cluster: every team holds its share, and nothing has to\n\
             move. With its environment and annotations (2 kB), its status and what the API server adds, a pod is\n\
             {} bytes of JSON. The operator is a release build with default settings and starts afresh: no quota\n\
             and no status is there yet.\n\n\
             | | measured | to reach |\n|---|---|---|\n",
            self.at.strftime("%Y-%m-%d"),
            self.machine,
            grouped(&nodes),
            grouped(&queues),
            grouped(&pods),
            grouped(&self.measured.pod_bytes),
        );
        for [what, seen, target] in self.rows() {
            let _ = writeln!(page, "| {what} | {seen} | {target} |");
        }
        page.push_str(
            "\nMemory is `VmRSS` and `VmHWM` of the process, processor time its user and system time, as the kernel\n\
             counts them. Writes are counted in the API server's audit log.\n",
        );
        page
    }

    fn rows(&self) -> Vec<Row> {
        let measured = &self.measured;
        let rest = &measured.rest;
        let row = |what: &str, seen: String, target: &str| [what.to_owned(), seen, target.to_owned()];
        let writes = measured.writes.iter().map(|(resource, count)| format!("{} {resource}", grouped(count)));
        vec![
            row("start until every kind is listed", seconds(measured.ready), ""),
            row("start until the first cycle has ended", seconds(measured.first_cycle), "< 10 s"),
            row("that cycle, its quota writes included", mean(measured.cycle), ""),
            row("its plan", mean(measured.plan), ""),
            row("processor time until then", seconds(measured.start.cpu), ""),
            row("memory after the first cycle", measured.start.memory.to_string(), ""),
            row("memory 30 s later, at rest", rest.memory.to_string(), "well below 256 MiB"),
            row("writes until then, Lease apart", writes.collect::<Vec<_>>().join(", "), ""),
            row("writes in a minute at rest, Lease apart", rest.writes.len().to_string(), "0"),
            row("writes of the Lease in that minute", rest.lease_writes.to_string(), ""),
            row("cycles in that minute", mean(rest.cycle), ""),
            row("processor time in that minute", seconds(rest.cpu), ""),
        ]
    }
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
    use crate::scale::{ProcessNumbers, ResidentMemory, Rest};

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
    fn the_page_has_every_line_of_the_table() {
        let memory = ResidentMemory { now: 30 * 1024, peak: 40 * 1024 };
        let measured = Measurement {
            pod_bytes: 5000,
            ready: Duration::from_secs(1),
            first_cycle: Duration::from_millis(1500),
            cycle: Histogram { count: 1, sum: Duration::from_millis(400) },
            plan: Histogram { count: 1, sum: Duration::from_millis(10) },
            start: ProcessNumbers { memory, cpu: Duration::from_millis(800) },
            writes: [("resourcequotas".to_owned(), 100), ("queues/status".to_owned(), 120)].into(),
            rest: Rest {
                memory,
                writes: Vec::new(),
                lease_writes: 30,
                cycle: Histogram { count: 2, sum: Duration::from_millis(6) },
                cpu: Duration::from_millis(50),
            },
        };
        let report = Report {
            size: ClusterSize { nodes: 1000, queues: 100, pods: 20_000 },
            machine: Machine { cores: 2, memory: 24 },
            measured,
            at: "2026-01-02T03:04:05Z".parse().unwrap(),
        };
        let page = report.page();
        assert!(
            page.contains("on 2026-01-02, on a machine with\n2 cores and 24 GiB of memory that"),
            "{page}"
        );
        assert!(
            page.contains("| writes until then, Lease apart | 120 queues/status, 100 resourcequotas |  |")
        );
        let table = report.table();
        assert_eq!(table.lines().count(), 12);
        assert!(table.lines().all(|line| page.contains(line.split("  ").next().unwrap())), "{table}");
    }
}
