//! The operator as a process: what Prometheus' own clients report under these names.
//!
//! Not the collector of the `prometheus` crate: it counts processor time in whole seconds, of which an idle operator needs
//! one in minutes, so that every rate of it is 0 or far too much.

use std::fs;
use std::time::SystemTime;

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Gauge, Opts};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::catalogue::{Catalogue, Unit, metric};

/// Looks at the process when somebody asks.
#[derive(Debug)]
pub(super) struct Process {
    cpu: Opts,
    resident: Gauge,
    virtual_memory: Gauge,
    threads: Gauge,
    open_files: Gauge,
    most_files: Gauge,
    started: Gauge,
    descriptions: Vec<Desc>,
}

impl Process {
    /// Declares its metrics and has them collected.
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<(), prometheus::Error> {
        into.under("The process");
        let cpu = into.asked_counter(metric(
            "process_cpu_seconds_total",
            Unit::Seconds,
            &[],
            "Total user and system CPU time spent in seconds.",
        ));
        let resident = into.asked_gauge(metric(
            "process_resident_memory_bytes",
            Unit::Bytes,
            &[],
            "Resident memory size in bytes.",
        ))?;
        let virtual_memory = into.asked_gauge(metric(
            "process_virtual_memory_bytes",
            Unit::Bytes,
            &[],
            "Virtual memory size in bytes.",
        ))?;
        let threads = into.asked_gauge(metric(
            "process_threads",
            Unit::Count,
            &[],
            "Number of OS threads in the process.",
        ))?;
        let open_files = into.asked_gauge(metric(
            "process_open_fds",
            Unit::Count,
            &[],
            "Number of open file descriptors.",
        ))?;
        let most_files = into.asked_gauge(metric(
            "process_max_fds",
            Unit::Count,
            &[],
            "Maximum number of open file descriptors.",
        ))?;
        let started = into.asked_gauge(metric(
            "process_start_time_seconds",
            Unit::Seconds,
            &[],
            "Start time of the process since unix epoch in seconds.",
        ))?;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        started.set(since.as_secs_f64());
        let mut process = Self {
            cpu,
            resident,
            virtual_memory,
            threads,
            open_files,
            most_files,
            started,
            descriptions: Vec::new(),
        };
        let gauges = process.gauges().into_iter().flat_map(Collector::desc).cloned();
        process.descriptions = gauges.chain(process.cpu()?.desc().into_iter().cloned()).collect();
        into.collector(process)
    }

    fn gauges(&self) -> [&Gauge; 6] {
        let Self { resident, virtual_memory, threads, open_files, most_files, started, .. } = self;
        [resident, virtual_memory, threads, open_files, most_files, started]
    }

    /// A counter that stands where the system's clock of the process does.
    fn cpu(&self) -> Result<Counter, prometheus::Error> {
        let counter = Counter::with_opts(self.cpu.clone())?;
        counter.inc_by(cpu_seconds());
        Ok(counter)
    }

    /// Reads what is to be shown. What the system does not tell stays as it was.
    fn look(&self) {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let of_status = [
            (&self.resident, "VmRSS", 1024),
            (&self.virtual_memory, "VmSize", 1024),
            (&self.threads, "Threads", 1),
        ];
        for (gauge, field, unit) in of_status {
            if let Some(count) = status_field(&status, field) {
                gauge.set(float(count.saturating_mul(unit)));
            }
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // Without the one that lists them.
            self.open_files.set(float(u64::try_from(files.count()).unwrap_or_default().saturating_sub(1)));
        }
        if let Some(most) = getrlimit(Resource::Nofile).current {
            self.most_files.set(float(most));
        }
    }
}

impl Collector for Process {
    fn desc(&self) -> Vec<&Desc> {
        self.descriptions.iter().collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        self.look();
        let mut families: Vec<MetricFamily> =
            self.gauges().into_iter().flat_map(Collector::collect).collect();
        families.extend(self.cpu().iter().flat_map(Collector::collect));
        families
    }
}

/// The processor time of all threads.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "metrics are floats; nothing is decided by them"
)]
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "metrics are floats; nothing is decided by them")]
fn float(count: u64) -> f64 {
    count as f64
}

/// The number in the line `NAME: 1234 kB` of `/proc/self/status`.
fn status_field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
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
    fn the_process_is_looked_at_when_somebody_asks() {
        let registry = Registry::new();
        Process::declare(&mut Catalogue::new(&registry)).unwrap();
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
        Process::declare(&mut Catalogue::new(&registry)).unwrap();
        let (before, begun) = (shown(&registry, "process_cpu_seconds_total"), Instant::now());
        // However slow the machine: something is used at last.
        while shown(&registry, "process_cpu_seconds_total") <= before {
            assert!(begun.elapsed() < Duration::from_secs(60), "no time passes");
        }
        assert!(shown(&registry, "process_cpu_seconds_total").fract() > 0.0);
    }

    #[test]
    fn fields_of_the_status_are_found() {
        let status = "Name:\tquotient\nVmSize:\t  123456 kB\nVmRSS:\t   4321 kB\nThreads:\t7\n";
        assert_eq!(status_field(status, "VmRSS"), Some(4321));
        assert_eq!(status_field(status, "Threads"), Some(7));
        assert_eq!(status_field(status, "Vm"), None);
    }
}
