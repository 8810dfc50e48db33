//! The operator as a process: what Prometheus' own clients report under these names.
//!
//! Not the collector of the `prometheus` crate: it counts processor time in whole seconds, of which an idle operator needs
//! one in minutes, so that every rate of it is 0 or far too much.

use metrics_process::collector::{Metrics, collect};
use prometheus::core::{Collector, Desc};
use prometheus::proto::{Counter, Gauge, MetricFamily};

use super::catalog::{Catalog, Unit, metric};
use super::computed::Computed;

/// Name, unit and help of a gauge, and what it shows.
type Shown = (&'static str, Unit, &'static str, fn(&Metrics) -> Option<u64>);

const GAUGES: [Shown; 6] = [
    ("process_resident_memory_bytes", Unit::Bytes, "Resident memory size in bytes.", |process| {
        process.resident_memory_bytes
    }),
    ("process_virtual_memory_bytes", Unit::Bytes, "Virtual memory size in bytes.", |process| {
        process.virtual_memory_bytes
    }),
    ("process_threads", Unit::Count, "Number of OS threads in the process.", |process| process.threads),
    ("process_open_fds", Unit::Count, "Number of open file descriptors.", |process| process.open_fds),
    ("process_max_fds", Unit::Count, "Maximum number of open file descriptors.", |process| process.max_fds),
    (
        "process_start_time_seconds",
        Unit::Seconds,
        "Start time of the process since unix epoch in seconds.",
        |process| process.start_time_seconds,
    ),
];

/// Reads the state of the process at a scrape.
#[derive(Debug)]
pub(super) struct Process {
    cpu: Computed<Counter>,
    gauges: Vec<Computed<Gauge>>,
}

impl Process {
    /// Declares its metrics and has them collected.
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<(), prometheus::Error> {
        let help = "Total user and system CPU time spent in seconds.";
        let cpu = into.computed(metric("process_cpu_seconds_total", Unit::Seconds, &[], help))?;
        let gauges = GAUGES.map(|(name, unit, help, _)| into.computed(metric(name, unit, &[], help)));
        let gauges = gauges.into_iter().collect::<Result<_, _>>()?;
        into.collector(Self { cpu, gauges })
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.gauges.iter().flat_map(Collector::desc).chain(self.cpu.desc()).collect()
    }

    /// What the system does not tell is not shown.
    fn collect(&self) -> Vec<MetricFamily> {
        let process = collect();
        let gauges = self.gauges.iter().zip(GAUGES);
        let gauges = gauges.filter_map(|(gauge, (.., shown))| Some(gauge.alone(float(shown(&process)?))));
        gauges.chain(process.cpu_seconds_total.map(|seconds| self.cpu.alone(seconds))).collect()
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
