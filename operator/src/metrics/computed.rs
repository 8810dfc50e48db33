//! Metrics whose series are computed at a scrape.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

use prometheus::core::{Collector, Desc, Describer as _};
use prometheus::proto::{Counter, Gauge, LabelPair, Metric, MetricFamily, MetricType};
use prometheus::{Error, Opts};

use super::catalog::Kind;
use crate::lock::lock;

/// A metric whose series are computed at a scrape.
///
/// Between two scrapes it has none: a cluster of many queues plans often and is scraped seldom.
///
/// Rejected: the vectors of the `prometheus` crate. They know a series by a hash of its label values without anything between
/// them, so that queue `c` in namespace `ab` and queue `bc` in namespace `a` share one. They also describe the metric again for
/// each series.
#[derive(Clone, Debug)]
pub(super) struct Computed<S> {
    description: Desc,
    series: Arc<Mutex<Vec<Metric>>>,
    sample: PhantomData<S>,
}

/// What a series of a computed metric is.
pub(super) trait Sample: Clone + Send + Sync + 'static {
    const KIND: Kind;
    const TYPE: MetricType;

    /// Writes `value` into `series`.
    fn write(value: f64, series: &mut Metric);
}

impl Sample for Gauge {
    const KIND: Kind = Kind::Gauge;
    const TYPE: MetricType = MetricType::GAUGE;

    fn write(value: f64, series: &mut Metric) {
        let mut gauge = Self::default();
        gauge.set_value(value);
        series.set_gauge(gauge);
    }
}

impl Sample for Counter {
    const KIND: Kind = Kind::Counter;
    const TYPE: MetricType = MetricType::COUNTER;

    fn write(value: f64, series: &mut Metric) {
        let mut counter = Self::default();
        counter.set_value(value);
        series.set_counter(counter);
    }
}

impl<S: Sample> Computed<S> {
    pub(super) fn new(options: Opts, labels: &[&str]) -> Result<Self, Error> {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let description = options.variable_labels(labels).describe()?;
        Ok(Self { description, series: Arc::default(), sample: PhantomData })
    }

    /// Shows `value` at this scrape, in the series with these values of its labels. Each series is shown once.
    pub(super) fn show(&self, labels: &[&str], value: f64) {
        lock(&self.series).push(self.series(labels, value));
    }

    fn series(&self, labels: &[&str], value: f64) -> Metric {
        let names = &self.description.variable_labels;
        debug_assert_eq!(names.len(), labels.len(), "{}", self.description.fq_name);
        let pairs = names.iter().zip(labels).map(|(name, label)| {
            let mut pair = LabelPair::default();
            pair.set_name(name.clone());
            pair.set_value((*label).to_owned());
            pair
        });
        let mut series = Metric::from_label(pairs.collect());
        S::write(value, &mut series);
        series
    }
}

impl<S: Sample> Collector for Computed<S> {
    fn desc(&self) -> Vec<&Desc> {
        vec![&self.description]
    }

    /// What was shown since the last scrape.
    fn collect(&self) -> Vec<MetricFamily> {
        let mut family = MetricFamily::default();
        family.set_name(self.description.fq_name.clone());
        family.set_help(self.description.help.clone());
        family.set_field_type(S::TYPE);
        family.set_metric(std::mem::take(&mut lock(&self.series)));
        vec![family]
    }
}
