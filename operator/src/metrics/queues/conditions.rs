//! The conditions of Queues as gauges, computed from what their statuses say at every scrape.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::GaugeVec;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use quotient_crds::ConditionType;
use quotient_engine::names::QueueName;

use crate::lock::lock;
use crate::metrics::catalog::{Catalog, NAMESPACE, QUEUE, emptied, label, labels, metrics};

metrics! {
    struct Series: computed {
        holds: GaugeVec = "quotient_queue_condition", Truth,
            [NAMESPACE, QUEUE, label("condition", "`Ready`, `QuotaSynced`, `Starved`, …")] =>
            "Whether the condition of the Queue's status is True.";
        abnormal: GaugeVec = "quotient_queue_abnormal", Truth,
            [
                NAMESPACE,
                QUEUE,
                label("condition", "`Ready` and `QuotaSynced` while False, `Starved`, `Overused`, … while True"),
                label("reason", "`WaitingForPreemption`, `Fenced`, `ObserveMode`, …"),
            ] =>
            "The reason of an abnormal condition of the queue. The series exists while the condition is abnormal.";
        starved_since: GaugeVec = "quotient_queue_starved_since_timestamp_seconds", Timestamp, [NAMESPACE, QUEUE] =>
            "The time since which the queue is starved. The series exists while it is.";
    }
}

/// The conditions of Queues. A series disappears with its Queue.
#[derive(Clone, Debug)]
pub struct ConditionGauges {
    /// Empty between two scrapes.
    series: Series,
    /// What is shown of every Queue, without messages.
    shown: Arc<Mutex<BTreeMap<QueueName, Vec<Condition>>>>,
}

impl ConditionGauges {
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        let gauges = Self { series: Series::declare(into)?, shown: Arc::default() };
        into.collector(gauges.clone())?;
        Ok(gauges)
    }

    /// Shows the conditions of one Queue.
    pub fn show(&self, queue: &QueueName, conditions: &[Condition]) {
        let without_message = |one: &Condition| Condition { message: String::new(), ..one.clone() };
        lock(&self.shown).insert(queue.clone(), conditions.iter().map(without_message).collect());
    }

    /// Drops the series of every Queue that is not to be kept.
    pub fn retain(&self, keep: impl Fn(&QueueName) -> bool) {
        lock(&self.shown).retain(|queue, _| keep(queue));
    }

    fn fill(&self, queue: &QueueName, condition: &Condition) {
        let holds = condition.status == "True";
        let of_kind = labels(queue, &[&condition.type_]);
        self.series.holds.with_label_values(&of_kind).set(f64::from(u8::from(holds)));
        let kind = ConditionType::ALL.into_iter().find(|kind| kind.as_str() == condition.type_);
        let Some(kind) = kind.filter(|kind| holds != is_normally_true(*kind)) else { return };
        let with_reason = labels(queue, &[&condition.type_, &condition.reason]);
        self.series.abnormal.with_label_values(&with_reason).set(1.0);
        if kind == ConditionType::Starved {
            let since = condition.last_transition_time.0.as_duration().as_secs_f64();
            self.series.starved_since.with_label_values(&labels(queue, &[])).set(since);
        }
    }
}

impl Collector for ConditionGauges {
    fn desc(&self) -> Vec<&Desc> {
        self.series.all().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        // Held while the gauges are filled, so that two scrapes do not share them.
        let shown = lock(&self.shown);
        for (queue, conditions) in &*shown {
            for condition in conditions {
                self.fill(queue, condition);
            }
        }
        emptied(&self.series.all())
    }
}

/// Whether a condition is True while nothing is wrong.
const fn is_normally_true(kind: ConditionType) -> bool {
    matches!(kind, ConditionType::Ready | ConditionType::QuotaSynced)
}
