//! One declaration a metric: it registers the metric and describes it in the reference at once, so that neither can
//! be without the other.

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry,
};
use quotient_engine::amounts::{Amount, Resource};

/// What a metric counts in. Base units only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Durations.
    Seconds,
    /// Points in time, in seconds since 1970.
    Timestamp,
    /// Sizes.
    Bytes,
    /// Cores of `cpu`, bytes of `memory`, whole devices of anything else.
    Amount,
    /// How many of something.
    Count,
    /// 1 where it holds, 0 where it does not.
    Truth,
    /// Always 1; what it says is in its labels.
    Info,
}

impl Unit {
    /// The word in the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Timestamp => "seconds since 1970",
            Self::Bytes => "bytes",
            Self::Amount => "cores, bytes or devices",
            Self::Count => "count",
            Self::Truth => "0 or 1",
            Self::Info => "always 1",
        }
    }
}

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only ever rises, and begins at 0 with the process.
    Counter,
    /// Rises and falls.
    Gauge,
    /// A distribution: `_bucket`, `_sum` and `_count`.
    Histogram,
}

impl Kind {
    /// The word in the reference.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A label, and which values it has. There are always few: none is ever a pod, a job or a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Its values, as the reference says them; empty where the name says it.
    pub values: &'static str,
}

/// A label of the given values.
pub(super) const fn label(name: &'static str, values: &'static str) -> Label {
    Label { name, values }
}

/// The namespace of the Queue.
pub(super) const NAMESPACE: Label = label("namespace", "");
/// The name of the Queue.
pub(super) const QUEUE: Label = label("queue", "");
/// A governed resource.
pub(super) const RESOURCE: Label = label("resource", "`cpu`, `memory`, `nvidia.com/gpu`, …");

/// What the reference says of one metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The heading that it stands under.
    pub group: &'static str,
    /// Its name.
    pub name: &'static str,
    /// How it behaves.
    pub kind: Kind,
    /// What it counts in.
    pub unit: Unit,
    /// What it says, in one sentence.
    pub help: &'static str,
    /// Its labels.
    pub labels: Vec<Label>,
}

/// Registers metrics and remembers what was said of them.
#[derive(Debug)]
pub struct Catalogue<'a> {
    registry: &'a Registry,
    group: &'static str,
    declarations: Vec<Declaration>,
}

/// One metric that is about to be registered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric<'a> {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) help: &'static str,
    pub(super) labels: &'a [Label],
}

/// A metric that is about to be registered.
pub(super) const fn metric<'a>(
    name: &'static str,
    unit: Unit,
    labels: &'a [Label],
    help: &'static str,
) -> Metric<'a> {
    Metric { name, unit, help, labels }
}

impl<'a> Catalogue<'a> {
    /// An empty one that registers with `registry`.
    pub fn new(registry: &'a Registry) -> Self {
        Self { registry, group: "", declarations: Vec::new() }
    }

    /// Everything that was declared, in order.
    pub fn declarations(&self) -> &[Declaration] {
        &self.declarations
    }

    /// What is declared from now on stands under this heading.
    pub(super) fn under(&mut self, group: &'static str) -> &mut Self {
        self.group = group;
        self
    }

    pub(super) fn counter(&mut self, metric: Metric<'_>) -> Result<IntCounter, prometheus::Error> {
        let collector = IntCounter::with_opts(options(metric))?;
        self.add(Kind::Counter, metric, collector)
    }

    pub(super) fn counters(&mut self, metric: Metric<'_>) -> Result<IntCounterVec, prometheus::Error> {
        let collector = IntCounterVec::new(options(metric), &names(metric))?;
        self.add(Kind::Counter, metric, collector)
    }

    pub(super) fn gauge(&mut self, metric: Metric<'_>) -> Result<IntGauge, prometheus::Error> {
        let collector = IntGauge::with_opts(options(metric))?;
        self.add(Kind::Gauge, metric, collector)
    }

    pub(super) fn gauges(&mut self, metric: Metric<'_>) -> Result<GaugeVec, prometheus::Error> {
        let collector = GaugeVec::new(options(metric), &names(metric))?;
        self.add(Kind::Gauge, metric, collector)
    }

    /// Gauges that a collector of their own fills at a scrape: declared, not registered.
    pub(super) fn asked_gauges(&mut self, metric: Metric<'_>) -> Result<GaugeVec, prometheus::Error> {
        self.declare(Kind::Gauge, metric);
        GaugeVec::new(options(metric), &names(metric))
    }

    /// The same without labels.
    pub(super) fn asked_gauge(&mut self, metric: Metric<'_>) -> Result<Gauge, prometheus::Error> {
        self.declare(Kind::Gauge, metric);
        Gauge::with_opts(options(metric))
    }

    /// The parts of a counter that a scrape computes.
    pub(super) fn asked_counter(&mut self, metric: Metric<'_>) -> Opts {
        self.declare(Kind::Counter, metric);
        options(metric)
    }

    /// Registers the collector of such gauges.
    pub(super) fn collector(&self, collector: impl Collector + 'static) -> Result<(), prometheus::Error> {
        self.registry.register(Box::new(collector))
    }

    pub(super) fn whole_gauges(&mut self, metric: Metric<'_>) -> Result<IntGaugeVec, prometheus::Error> {
        let collector = IntGaugeVec::new(options(metric), &names(metric))?;
        self.add(Kind::Gauge, metric, collector)
    }

    pub(super) fn histogram(
        &mut self,
        metric: Metric<'_>,
        buckets: Vec<f64>,
    ) -> Result<Histogram, prometheus::Error> {
        let options = HistogramOpts::new(metric.name, metric.help).buckets(buckets);
        self.add(Kind::Histogram, metric, Histogram::with_opts(options)?)
    }

    pub(super) fn histograms(
        &mut self,
        metric: Metric<'_>,
        buckets: Vec<f64>,
    ) -> Result<HistogramVec, prometheus::Error> {
        let options = HistogramOpts::new(metric.name, metric.help).buckets(buckets);
        self.add(Kind::Histogram, metric, HistogramVec::new(options, &names(metric))?)
    }

    fn add<C: Collector + Clone + 'static>(
        &mut self,
        kind: Kind,
        metric: Metric<'_>,
        collector: C,
    ) -> Result<C, prometheus::Error> {
        self.registry.register(Box::new(collector.clone()))?;
        self.declare(kind, metric);
        Ok(collector)
    }

    fn declare(&mut self, kind: Kind, Metric { name, unit, help, labels }: Metric<'_>) {
        let group = self.group;
        self.declarations.push(Declaration { group, name, kind, unit, help, labels: labels.to_vec() });
    }
}

fn options(metric: Metric<'_>) -> Opts {
    Opts::new(metric.name, metric.help)
}

fn names(metric: Metric<'_>) -> Vec<&'static str> {
    metric.labels.iter().map(|label| label.name).collect()
}

/// `amount` in cores, bytes or devices.
#[expect(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    reason = "metrics are floats; nothing is decided by them"
)]
pub(super) fn base_units(resource: &Resource, amount: Amount) -> f64 {
    let units = amount.units() as f64;
    match resource {
        Resource::Cpu => units / 1000.0,
        Resource::Memory | Resource::Extended(_) => units,
    }
}
