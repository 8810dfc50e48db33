//! The operator as a process: what Prometheus' own clients report under these names.
//!
//! Not the collector of the `prometheus` crate: it counts processor time in whole seconds, of which an idle operator needs
//! one in minutes, so that every rate of it is 0 or far too much.

use std::sync::Mutex;

use metrics_process::collector::collect;
use prometheus::core::{Collector, Desc};
use prometheus::proto::{Counter, Gauge, MetricFamily};

use super::catalog::{Catalog, metrics};
use super::computed::Computed;
use crate::lock::lock;

metrics! {
    struct ProcessMetrics: computed {
        cpu: Computed<Counter> = "process_cpu_seconds_total", Seconds, [] =>
            "Total user and system CPU time spent in seconds.";
        resident: Computed<Gauge> = "process_resident_memory_bytes", Bytes, [] =>
            "Resident memory size in bytes.";
        virtual_memory: Computed<Gauge> = "process_virtual_memory_bytes", Bytes, [] =>
            "Virtual memory size in bytes.";
        threads: Computed<Gauge> = "process_threads", Count, [] =>
            "Number of OS threads in the process.";
        open_fds: Computed<Gauge> = "process_open_fds", Count, [] =>
            "Number of open file descriptors.";
        max_fds: Computed<Gauge> = "process_max_fds", Count, [] =>
            "Maximum number of open file descriptors.";
        start_time: Computed<Gauge> = "process_start_time_seconds", Seconds, [] =>
            "Start time of the process since unix epoch in seconds.";
    }
}

/// Reads the state of the process at a scrape.
#[derive(Debug)]
pub(super) struct Process {
    metrics: ProcessMetrics,
    /// Two scrapes at once would show each series twice.
    scraping: Mutex<()>,
}

impl Process {
    /// Declares its metrics and has them collected.
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<(), prometheus::Error> {
        let metrics = ProcessMetrics::declare(into)?;
        into.collector(Self { metrics, scraping: Mutex::new(()) })
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.metrics.all().into_iter().flat_map(Collector::desc).collect()
    }

    /// What the system does not tell is not shown.
    fn collect(&self) -> Vec<MetricFamily> {
        let _scraping = lock(&self.scraping);
        let (metrics, process) = (&self.metrics, collect());
        for (gauge, value) in [
            (&metrics.resident, process.resident_memory_bytes),
            (&metrics.virtual_memory, process.virtual_memory_bytes),
            (&metrics.threads, process.threads),
            (&metrics.open_fds, process.open_fds),
            (&metrics.max_fds, process.max_fds),
            (&metrics.start_time, process.start_time_seconds),
        ] {
            if let Some(value) = value {
                gauge.show(&[], float(value));
            }
        }
        if let Some(seconds) = process.cpu_seconds_total {
            metrics.cpu.show(&[], seconds);
        }
        metrics.all().into_iter().flat_map(Collector::collect).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floats; nothing is decided by them")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use prometheus::Registry;

    use super::*;

    fn shown(registry: &Registry, name: &str) -> f64 {
        let families = registry.gather();
        let family = families.iter().find(|family| family.name() == name).unwrap();
        let metric = &family.get_metric()[0];
        if name.ends_with("_total") {
            metric.get_counter().get_value()
        } else {
            metric.get_gauge().get_value()
        }
    }

    #[test]
    fn a_scrape_reads_the_state_of_the_process() {
        let registry = Registry::new();
        Process::declare(&mut Catalog::new(&registry)).unwrap();
        assert!(shown(&registry, "process_resident_memory_bytes") > 100_000.0);
        assert!(
            shown(&registry, "process_virtual_memory_bytes")
                >= shown(&registry, "process_resident_memory_bytes")
        );
        assert!(shown(&registry, "process_threads") >= 1.0);
        assert!(shown(&registry, "process_open_fds") >= 3.0);
        assert!(shown(&registry, "process_max_fds") >= shown(&registry, "process_open_fds"));
        assert!(shown(&registry, "process_start_time_seconds") > 1_700_000_000.0);
    }

    #[test]
    fn processor_time_is_more_than_whole_seconds() {
        let registry = Registry::new();
        Process::declare(&mut Catalog::new(&registry)).unwrap();
        let (before, begun) = (shown(&registry, "process_cpu_seconds_total"), Instant::now());
        // However slow the machine: something is used at last, and that is seldom a whole second.
        while {
            let used = shown(&registry, "process_cpu_seconds_total");
            used <= before || used.fract() == 0.0
        } {
            assert!(begun.elapsed() < Duration::from_secs(60), "no part of a second is shown");
        }
    }
}
