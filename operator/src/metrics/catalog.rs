//! One declaration a metric: it registers the metric and describes it in the reference at once, so that neither can
//! be without the other.

use prometheus::core::Collector;
use prometheus::{
    GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, exponential_buckets,
};
use quotient_engine::amounts::{Amount, Resource};
use quotient_engine::names::QueueName;

use super::computed::{Computed, Sample};

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
pub struct Catalog<'a> {
    registry: &'a Registry,
    group: &'static str,
    declarations: Vec<Declaration>,
}

/// A metric that is about to be declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Metric<'a> {
    name: &'static str,
    unit: Unit,
    labels: &'a [Label],
    help: &'static str,
    /// The upper bound of the first bucket of a histogram, and how many buckets there are.
    doubling: Option<(f64, usize)>,
}

/// A metric that is about to be declared.
pub(super) const fn metric<'a>(
    name: &'static str,
    unit: Unit,
    labels: &'a [Label],
    help: &'static str,
) -> Metric<'a> {
    Metric { name, unit, labels, help, doubling: None }
}

impl Metric<'_> {
    /// As a histogram: the first bucket ends at `first`, and each further one of the `count` at twice the one before.
    pub(super) const fn doubling(self, first: f64, count: usize) -> Self {
        Self { doubling: Some((first, count)), ..self }
    }

    fn options(&self) -> Opts {
        Opts::new(self.name, self.help)
    }
}

/// What a metric may be for the registry. Its type says how it behaves.
pub(super) trait Family: Collector + Clone + 'static {
    const KIND: Kind;

    fn of(options: Opts, labels: &[&str], buckets: Vec<f64>) -> Result<Self, prometheus::Error>;
}

macro_rules! families {
    ($($type:ident is a $kind:ident: $new:expr;)+) => {
        $(impl Family for $type {
            const KIND: Kind = Kind::$kind;

            fn of(options: Opts, labels: &[&str], buckets: Vec<f64>) -> Result<Self, prometheus::Error> {
                let new: fn(Opts, &[&str], Vec<f64>) -> Result<Self, prometheus::Error> = $new;
                new(options, labels, buckets)
            }
        })+
    };
}

families! {
    IntCounter is a Counter: |options, _, _| Self::with_opts(options);
    IntCounterVec is a Counter: |options, labels, _| Self::new(options, labels);
    IntGauge is a Gauge: |options, _, _| Self::with_opts(options);
    IntGaugeVec is a Gauge: |options, labels, _| Self::new(options, labels);
    GaugeVec is a Gauge: |options, labels, _| Self::new(options, labels);
    Histogram is a Histogram: |options, _, buckets| Self::with_opts(HistogramOpts::from(options).buckets(buckets));
    HistogramVec is a Histogram: |options, labels, buckets| Self::new(HistogramOpts::from(options).buckets(buckets), labels);
}

impl<S: Sample> Family for Computed<S> {
    const KIND: Kind = S::KIND;

    fn of(options: Opts, labels: &[&str], _: Vec<f64>) -> Result<Self, prometheus::Error> {
        Self::new(options, labels)
    }
}

/// Defines a struct of metrics and how they are declared: each metric once, with its help as the text of the field.
///
/// ```text
/// metrics! {
///     /// What the struct is.
///     pub struct CycleMetrics: registered {
///         pub plan_duration: Histogram = "quotient_plan_duration_seconds", Seconds, [], doubling(0.000_1, 15) =>
///             "The time that the engine took for one plan.";
///     }
/// }
/// ```
///
/// After the name of a metric come its unit, its labels and the buckets of a histogram. The metrics are `registered`, or
/// `computed` at a scrape by a collector of their own.
macro_rules! metrics {
    (
        $(#[$about:meta])*
        $open:vis struct $name:ident: $how:ident {
            $($see:vis $field:ident: $type:ty = $metric:literal, $unit:ident, $labels:expr
                $(, doubling($first:expr, $count:expr))? => $help:literal;)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        $open struct $name {
            $(#[doc = $help] $see $field: $type),+
        }

        impl $name {
            pub(super) fn declare(
                into: &mut $crate::metrics::catalog::Catalog<'_>,
            ) -> Result<Self, prometheus::Error> {
                use $crate::metrics::catalog::{Unit, metric};
                Ok(Self {
                    $($field: into.$how(
                        metric($metric, Unit::$unit, &$labels, $help)$(.doubling($first, $count))?
                    )?),+
                })
            }
        }

        $crate::metrics::catalog::metrics!(@all $how $name $($field)+);
    };
    (@all registered $name:ident $($field:ident)+) => {};
    (@all computed $name:ident $($field:ident)+) => {
        impl $name {
            pub(super) fn all(&self) -> Vec<&dyn prometheus::core::Collector> {
                vec![$(&self.$field),+]
            }
        }
    };
}
pub(super) use metrics;

impl<'a> Catalog<'a> {
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

    /// A metric that is declared and registered.
    pub(super) fn registered<F: Family>(&mut self, metric: Metric<'_>) -> Result<F, prometheus::Error> {
        let family: F = self.computed(metric)?;
        self.collector(family.clone())?;
        Ok(family)
    }

    /// A metric that a collector of its own fills at a scrape: declared, not registered.
    pub(super) fn computed<F: Family>(&mut self, metric: Metric<'_>) -> Result<F, prometheus::Error> {
        let Metric { name, unit, labels, help, .. } = metric;
        let group = self.group;
        let declaration = Declaration { group, name, kind: F::KIND, unit, help, labels: labels.to_vec() };
        self.declarations.push(declaration);
        let labels: Vec<&str> = metric.labels.iter().map(|label| label.name).collect();
        let buckets = metric.doubling.map(|(first, count)| exponential_buckets(first, 2.0, count));
        F::of(metric.options(), &labels, buckets.transpose()?.unwrap_or_default())
    }

    /// Registers a collector of computed metrics.
    pub(super) fn collector(&self, collector: impl Collector + 'static) -> Result<(), prometheus::Error> {
        self.registry.register(Box::new(collector))
    }
}

/// The labels of a series of `queue`: its namespace, its name and these.
pub(super) fn labels<'a>(queue: &'a QueueName, more: &[&'a str]) -> Vec<&'a str> {
    [&[queue.namespace.as_str(), &*queue.name], more].concat()
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
