//! Every number that the operator reports, in one place.
//!
//! Names and labels are part of the interface: dashboards and alerts use them. Units are base units (seconds,
//! bytes, cores, devices). No label ever carries a pod, a job or a message.

mod queues;

use prometheus::core::Collector;
use prometheus::process_collector::ProcessCollector;
use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    exponential_buckets,
};

pub use queues::QueueGauges;

/// The metrics, all registered.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// What each queue deserves, has and wants.
    pub queues: QueueGauges,
    /// How long a cycle took, from its snapshot to the last answer to its writes.
    pub cycle_duration: Histogram,
    /// How long the engine took for one plan.
    pub plan_duration: Histogram,
    /// When the last cycle ended well, in seconds since 1970.
    pub cycle_last_success: IntGauge,
    /// How long it took from the answer to a quota's write until admission enforced it.
    pub quota_in_force: Histogram,
    /// Evictions that the API server accepted, by the reason of the plan.
    pub evictions: IntCounterVec,
    /// Evictions that the API server refused, by what stood in the way.
    pub evictions_blocked: IntCounterVec,
    /// Pods long past their deadline that were deleted without grace.
    pub evictions_forced: IntCounter,
    /// Owners that were told that there is room again for refused pods, by kind.
    pub nudges: IntCounterVec,
    /// Writes to the API server, by kind and result.
    pub api_writes: IntCounterVec,
    /// Events that were dropped because too many waited.
    pub events_dropped: IntCounter,
    /// 1 while this replica leads.
    pub leader: IntGauge,
    /// Errors of watches, by kind; a watch heals by itself.
    pub watch_errors: IntCounterVec,
    /// Objects that the index keeps, by kind.
    pub index_objects: IntGaugeVec,
}

impl Metrics {
    /// Registers everything with `registry`.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let into = Into { registry };
        registry.register(Box::new(ProcessCollector::for_self()))?;
        let build = into.register(IntGaugeVec::new(
            Opts::new("quotient_build_info", "What is running; always 1."),
            &["version"],
        )?)?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        Ok(Self {
            queues: QueueGauges::register(registry)?,
            cycle_duration: into.histogram(
                "quotient_cycle_duration_seconds",
                "From a cycle's snapshot to the last answer to its quota writes and evictions.",
                exponential_buckets(0.001, 2.0, 15)?,
            )?,
            plan_duration: into.histogram(
                "quotient_plan_duration_seconds",
                "How long the engine took for one plan.",
                exponential_buckets(0.000_1, 2.0, 15)?,
            )?,
            cycle_last_success: into.register(IntGauge::new(
                "quotient_cycle_last_success_timestamp_seconds",
                "When the last cycle of this replica as leader ended.",
            )?)?,
            quota_in_force: into.histogram(
                "quotient_quota_in_force_seconds",
                "From the answer to a quota's write until its status showed that admission enforces it.",
                exponential_buckets(0.005, 2.0, 14)?,
            )?,
            evictions: into.counters(
                "quotient_evictions_total",
                "Evictions that the API server accepted, by reason.",
                &["reason"],
            )?,
            evictions_blocked: into.counters(
                "quotient_evictions_blocked_total",
                "Evictions that the API server refused: Budget, SeveralBudgets, Forbidden, Overloaded or Other.",
                &["reason"],
            )?,
            evictions_forced: into.register(IntCounter::new(
                "quotient_evictions_forced_total",
                "Pods long past their deadline that were deleted without grace.",
            )?)?,
            nudges: into.counters(
                "quotient_nudges_total",
                "Owners that were told that there is room again for refused pods, by kind.",
                &["kind"],
            )?,
            api_writes: into.counters(
                "quotient_api_writes_total",
                "Writes to the API server, by kind and result.",
                &["kind", "result"],
            )?,
            events_dropped: into.register(IntCounter::new(
                "quotient_events_dropped_total",
                "Events that were not written because too many were waiting.",
            )?)?,
            leader: into
                .register(IntGauge::new("quotient_leader", "1 while this replica leads, otherwise 0.")?)?,
            watch_errors: into.counters(
                "quotient_watch_errors_total",
                "Errors of watches, by kind of object; a watch heals by itself.",
                &["kind"],
            )?,
            index_objects: into.register(IntGaugeVec::new(
                Opts::new("quotient_index_objects", "Objects that the index keeps, by kind."),
                &["kind"],
            )?)?,
        })
    }

    /// Counts one refused eviction.
    pub fn refused_eviction(&self, reason: &str) {
        self.evictions_blocked.with_label_values(&[reason]).inc();
    }

    /// Counts one write of `kind`.
    pub fn wrote(&self, kind: &str, result: &str) {
        self.api_writes.with_label_values(&[kind, result]).inc();
    }
}

/// Registers while it builds.
struct Into<'a> {
    registry: &'a Registry,
}

impl Into<'_> {
    fn register<C: Collector + Clone + 'static>(&self, collector: C) -> Result<C, prometheus::Error> {
        self.registry.register(Box::new(collector.clone()))?;
        Ok(collector)
    }

    fn histogram(&self, name: &str, help: &str, buckets: Vec<f64>) -> Result<Histogram, prometheus::Error> {
        self.register(Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets))?)
    }

    fn counters(&self, name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec, prometheus::Error> {
        self.register(IntCounterVec::new(Opts::new(name, help), labels)?)
    }
}
