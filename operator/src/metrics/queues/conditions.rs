//! The conditions of Queues as gauges: what their statuses say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::{GaugeVec, IntGaugeVec};
use quotient_crds::ConditionType;
use quotient_engine::names::QueueName;

use crate::lock::lock;
use crate::metrics::catalog::{Catalog, NAMESPACE, QUEUE, label, labels, metrics};

metrics! {
    struct Series: registered {
        holds: IntGaugeVec = "quotient_queue_condition", Truth,
            [NAMESPACE, QUEUE, label("condition", "`Ready`, `QuotaSynced`, `Starved`, …")] =>
            "Whether the condition of the Queue's status is True.";
        abnormal: IntGaugeVec = "quotient_queue_abnormal", Truth,
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
    series: Series,
    /// The Queues that are shown, with the reasons of their abnormal conditions.
    shown: Arc<Mutex<BTreeMap<QueueName, BTreeMap<ConditionType, String>>>>,
}

impl ConditionGauges {
    pub(super) fn declare(into: &mut Catalog<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self { series: Series::declare(into)?, shown: Arc::default() })
    }

    /// Shows the conditions of one Queue.
    pub fn show(&self, queue: &QueueName, conditions: &[Condition]) {
        let mut abnormal = BTreeMap::new();
        let mut starved_since = None;
        for condition in conditions {
            let holds = condition.status == "True";
            self.series.holds.with_label_values(&labels(queue, &[&condition.type_])).set(i64::from(holds));
            let kind = ConditionType::ALL.into_iter().find(|kind| kind.as_str() == condition.type_);
            let Some(kind) = kind.filter(|kind| holds != is_normally_true(*kind)) else { continue };
            abnormal.insert(kind, condition.reason.clone());
            if kind == ConditionType::Starved {
                starved_since = Some(condition.last_transition_time.0.as_duration().as_secs_f64());
            }
        }
        if let Some(since) = starved_since {
            self.series.starved_since.with_label_values(&labels(queue, &[])).set(since);
        } else {
            // Only fails where there is no such series.
            let _ = self.series.starved_since.remove_label_values(&labels(queue, &[]));
        }
        let before = lock(&self.shown).insert(queue.clone(), abnormal.clone()).unwrap_or_default();
        self.forget(queue, before.iter().filter(|(kind, reason)| abnormal.get(kind) != Some(reason)));
        for (kind, reason) in &abnormal {
            self.series.abnormal.with_label_values(&labels(queue, &[kind.as_str(), reason])).set(1);
        }
    }

    /// Drops the series of every Queue that is not to be kept.
    pub fn retain(&self, keep: impl Fn(&QueueName) -> bool) {
        lock(&self.shown).retain(|queue, abnormal| {
            let keep = keep(queue);
            if !keep {
                self.forget(queue, abnormal.iter());
                for condition in ConditionType::ALL {
                    let _ = self.series.holds.remove_label_values(&labels(queue, &[condition.as_str()]));
                }
                let _ = self.series.starved_since.remove_label_values(&labels(queue, &[]));
            }
            keep
        });
    }

    fn forget<'a>(&self, queue: &QueueName, abnormal: impl Iterator<Item = (&'a ConditionType, &'a String)>) {
        for (kind, reason) in abnormal {
            // Only fails where there is no such series.
            let _ = self.series.abnormal.remove_label_values(&labels(queue, &[kind.as_str(), reason]));
        }
    }
}

/// Whether a condition is True while nothing is wrong.
const fn is_normally_true(kind: ConditionType) -> bool {
    matches!(kind, ConditionType::Ready | ConditionType::QuotaSynced)
}
