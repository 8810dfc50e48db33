//! What every queue loses by evictions, and which of them were refused.

use prometheus::IntCounterVec;
use quotient_engine::names::QueueName;
use quotient_engine::reasons::EvictionReason;

use crate::metrics::catalogue::{Catalogue, NAMESPACE, QUEUE, Unit, label, metric};

/// What makes a pod go.
const EVICTED: [EvictionReason; 3] =
    [EvictionReason::Reclaimed, EvictionReason::Overcommitted, EvictionReason::MovedAside];

/// What stands in the way of an eviction.
const REFUSED: [&str; 6] = ["Budget", "SeveralBudgets", "Forbidden", "ServerError", "Overloaded", "Other"];

/// Counters by the queue whose pods it is about.
#[derive(Clone, Debug)]
pub(super) struct Evictions {
    accepted: IntCounterVec,
    refused: IntCounterVec,
    lost_seconds: IntCounterVec,
}

impl Evictions {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Evictions");
        Ok(Self {
            accepted: into.counters(metric(
                "quotient_evictions_total",
                Unit::Count,
                &[NAMESPACE, QUEUE, label("reason", "`Reclaimed`, `Overcommitted`, `MovedAside`")],
                "Evictions of the queue's pods that the API server accepted.",
            ))?,
            refused: into.counters(metric(
                "quotient_evictions_blocked_total",
                Unit::Count,
                &[
                    NAMESPACE,
                    QUEUE,
                    label("reason", "`Budget`, `SeveralBudgets`, `Forbidden`, `ServerError`, `Overloaded`, `Other`"),
                ],
                "Evictions of the queue's pods that the API server refused, by reason. Quotient asks for each again.",
            ))?,
            lost_seconds: into.counters(metric(
                "quotient_evicted_pod_seconds_total",
                Unit::Seconds,
                &[NAMESPACE, QUEUE],
                "The time that the queue's evicted pods had run, added up: the lost work, if the pods saved none of it.",
            ))?,
        })
    }

    /// Begins at 0, so that the first one is seen to happen.
    pub(super) fn begin(&self, queue: &QueueName) {
        for reason in EVICTED {
            self.accepted.with_label_values(&labels(queue, reason.name()));
        }
        for reason in REFUSED {
            self.refused.with_label_values(&labels(queue, reason));
        }
        self.lost_seconds.with_label_values(&[queue.namespace.as_str(), &queue.name]);
    }

    /// Drops the queue's series. Removing only fails where there is none.
    pub(super) fn end(&self, queue: &QueueName) {
        for reason in EVICTED {
            let _ = self.accepted.remove_label_values(&labels(queue, reason.name()));
        }
        for reason in REFUSED {
            let _ = self.refused.remove_label_values(&labels(queue, reason));
        }
        let _ = self.lost_seconds.remove_label_values(&[queue.namespace.as_str(), &queue.name]);
    }

    pub(super) fn accepted(&self, queue: &QueueName, reason: EvictionReason, ran_seconds: u64) {
        self.accepted.with_label_values(&labels(queue, reason.name())).inc();
        self.lost_seconds.with_label_values(&[queue.namespace.as_str(), &queue.name]).inc_by(ran_seconds);
    }

    pub(super) fn refused(&self, queue: &QueueName, reason: &str) {
        self.refused.with_label_values(&labels(queue, reason)).inc();
    }

    #[cfg(test)]
    pub(super) fn refusals(&self, queue: &QueueName, reason: &str) -> u64 {
        self.refused.with_label_values(&labels(queue, reason)).get()
    }

    #[cfg(test)]
    pub(super) fn lost(&self, queue: &QueueName) -> u64 {
        self.lost_seconds.with_label_values(&[queue.namespace.as_str(), &queue.name]).get()
    }
}

fn labels<'a>(name: &'a QueueName, reason: &'a str) -> [&'a str; 3] {
    [name.namespace.as_str(), &name.name, reason]
}
