//! The conditions of Queues as gauges: what their statuses say.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::{GaugeVec, IntGaugeVec};
use quotient_crds::ConditionType;
use quotient_engine::names::QueueName;

use crate::metrics::catalogue::{Catalogue, NAMESPACE, QUEUE, Unit, label, metric};

/// The conditions of Queues. A series disappears with its Queue.
#[derive(Clone, Debug)]
pub struct ConditionGauges {
    holds: IntGaugeVec,
    starved_since: GaugeVec,
    shown: Arc<Mutex<BTreeSet<QueueName>>>,
}

impl ConditionGauges {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        Ok(Self {
            holds: into.whole_gauges(metric(
                "quotient_queue_condition",
                Unit::Truth,
                &[NAMESPACE, QUEUE, label("condition", "`Ready`, `QuotaSynced`, `Starved`, …")],
                "Whether the condition of the Queue's status is True.",
            ))?,
            starved_since: into.gauges(metric(
                "quotient_queue_starved_since_timestamp_seconds",
                Unit::Timestamp,
                &[NAMESPACE, QUEUE],
                "Since when the queue has had less than it asks for and deserves; only while it has.",
            ))?,
            shown: Arc::default(),
        })
    }

    /// Shows the conditions of one Queue.
    pub fn show(&self, queue: &QueueName, conditions: &[Condition]) {
        let (namespace, name) = (queue.namespace.as_str(), queue.name.as_ref());
        let mut starved = false;
        for condition in conditions {
            let holds = condition.status == "True";
            let labels = [namespace, name, condition.type_.as_str()];
            self.holds.with_label_values(&labels).set(i64::from(holds));
            if holds && condition.type_ == ConditionType::Starved.as_str() {
                starved = true;
                let since = condition.last_transition_time.0.as_duration().as_secs_f64();
                self.starved_since.with_label_values(&[namespace, name]).set(since);
            }
        }
        if !starved {
            // Only fails where there is no such series.
            let _ = self.starved_since.remove_label_values(&[namespace, name]);
        }
        self.shown().insert(queue.clone());
    }

    /// Drops the series of every Queue that is not to be kept.
    pub fn retain(&self, keep: impl Fn(&QueueName) -> bool) {
        self.shown().retain(|queue| {
            let keep = keep(queue);
            if !keep {
                let labels = [queue.namespace.as_str(), queue.name.as_ref()];
                for condition in ConditionType::ALL {
                    let [namespace, name] = labels;
                    let _ = self.holds.remove_label_values(&[namespace, name, condition.as_str()]);
                }
                let _ = self.starved_since.remove_label_values(&labels);
            }
            keep
        });
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, BTreeSet<QueueName>> {
        // A panic elsewhere leaves a whole set behind.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
