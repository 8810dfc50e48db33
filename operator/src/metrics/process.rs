//! The operator as a process: what Prometheus' own clients report under these names.
//!
//! Not the collector of the `prometheus` crate: it counts processor time in whole seconds, of which an idle operator needs
//! one in minutes, so that every rate of it is 0 or far too much.

use metrics_process::collector::{Metrics, collect};
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge, Opts};

use super::catalog::{Catalog, Kind, Unit, metric};

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
    cpu: Opts,
    gauges: Vec<Gauge>,
    descriptions: Vec<Desc>,
}

impl Process {
    /// Declares its metrics and has them collected.
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<(), prometheus::Error> {
        let help = "Total user and system CPU time spent in seconds.";
        let cpu = metric("process_cpu_seconds_total", Unit::Seconds, &[], help);
        into.declare(Kind::Counter, cpu);
        let cpu = cpu.options();
        let gauges = GAUGES.map(|(name, unit, help, _)| into.computed(metric(name, unit, &[], help)));
        let gauges: Vec<Gauge> = gauges.into_iter().collect::<Result<_, _>>()?;
        let counter = Counter::with_opts(cpu.clone())?;
        let descriptions = gauges.iter().flat_map(Collector::desc).chain(counter.desc()).cloned().collect();
        into.collector(Self { cpu, gauges, descriptions })
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    /// What the system does not tell stays as it was.
    fn collect(&self) -> Vec<MetricFamily> {
        let process = collect();
        for (gauge, (.., shown)) in self.gauges.iter().zip(GAUGES) {
            if let Some(count) = shown(&process) {
                gauge.set(float(count));
            }
        }
        let mut families: Vec<MetricFamily> = self.gauges.iter().flat_map(Collector::collect).collect();
        if let Some((counter, seconds)) =
            Counter::with_opts(self.cpu.clone()).ok().zip(process.cpu_seconds_total)
        {
            counter.inc_by(seconds);
            families.extend(counter.collect());
        }
        families
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
