//! The conditions of Queues as gauges: what their statuses say.

use std::collections::BTreeMap;
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
    starved: IntGaugeVec,
    starved_since: GaugeVec,
    /// The Queues that are shown, and why each is starved, if it is.
    shown: Arc<Mutex<BTreeMap<QueueName, Option<String>>>>,
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
            starved: into.whole_gauges(metric(
                "quotient_queue_starved",
                Unit::Truth,
                &[NAMESPACE, QUEUE, label("reason", "`WaitingForPreemption`, `Fenced`, `Budget`, …")],
                "Whether the queue is starved, by the reason of the condition; only while it is.",
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
        let mut starved = None;
        for condition in conditions {
            let holds = condition.status == "True";
            let labels = [namespace, name, condition.type_.as_str()];
            self.holds.with_label_values(&labels).set(i64::from(holds));
            if holds && condition.type_ == ConditionType::Starved.as_str() {
                starved = Some(condition.reason.clone());
                let since = condition.last_transition_time.0.as_duration().as_secs_f64();
                self.starved_since.with_label_values(&[namespace, name]).set(since);
            }
        }
        if starved.is_none() {
            // Only fails where there is no such series.
            let _ = self.starved_since.remove_label_values(&[namespace, name]);
        }
        let before = self.shown().insert(queue.clone(), starved.clone()).flatten();
        if before != starved {
            self.forget_starved(queue, before.as_deref());
        }
        if let Some(reason) = starved {
            self.starved.with_label_values(&[namespace, name, &reason]).set(1);
        }
    }

    /// Drops the series of every Queue that is not to be kept.
    pub fn retain(&self, keep: impl Fn(&QueueName) -> bool) {
        self.shown().retain(|queue, starved| {
            let keep = keep(queue);
            if !keep {
                self.forget_starved(queue, starved.as_deref());
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

    fn forget_starved(&self, queue: &QueueName, reason: Option<&str>) {
        let reason = reason.unwrap_or_default();
        // Only fails where there is no such series.
        let _ = self.starved.remove_label_values(&[queue.namespace.as_str(), &queue.name, reason]);
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, BTreeMap<QueueName, Option<String>>> {
        // A panic elsewhere leaves a whole map behind.
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
