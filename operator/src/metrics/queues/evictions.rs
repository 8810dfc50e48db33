//! What every queue loses by evictions, and which of them were refused.

use prometheus::IntCounterVec;
use quotient_engine::names::QueueName;
use quotient_engine::reasons::EvictionReason;

use crate::metrics::catalog::{NAMESPACE, QUEUE, label, labels, metrics};

/// What makes a pod go.
const EVICTED: [EvictionReason; 3] =
    [EvictionReason::Reclaimed, EvictionReason::Overcommitted, EvictionReason::MovedAside];

/// What stands in the way of an eviction.
const REFUSED: [&str; 6] = ["Budget", "SeveralBudgets", "Forbidden", "ServerError", "Overloaded", "Other"];

metrics! {
    /// Counters by the queue whose pods it is about.
    pub struct Evictions: registered {
        accepted: IntCounterVec = "quotient_evictions_total", Count,
            [NAMESPACE, QUEUE, label("reason", "`Reclaimed`, `Overcommitted`, `MovedAside`")] =>
            "Evictions of the queue's pods that the API server accepted.";
        refused: IntCounterVec = "quotient_evictions_blocked_total", Count,
            [
                NAMESPACE,
                QUEUE,
                label("reason", "`Budget`, `SeveralBudgets`, `Forbidden`, `ServerError`, `Overloaded`, `Other`"),
            ] =>
            "Evictions of the queue's pods that the API server refused, by reason. Quotient asks for each again.";
        lost_seconds: IntCounterVec = "quotient_evicted_pod_seconds_total", Seconds, [NAMESPACE, QUEUE] =>
            "The time that the queue's evicted pods had run, added up: the lost work, if the pods saved none of it.";
    }
}

impl Evictions {
    /// Begins at 0, so that the first one is seen to happen.
    pub(super) fn begin(&self, queue: &QueueName) {
        for (counter, reason) in self.counters() {
            counter.with_label_values(&labels(queue, reason.as_slice()));
        }
    }

    /// Drops the queue's series. Removing only fails where there is none.
    pub(super) fn end(&self, queue: &QueueName) {
        for (counter, reason) in self.counters() {
            let _ = counter.remove_label_values(&labels(queue, reason.as_slice()));
        }
    }

    /// The counters, each with every reason by which it counts.
    fn counters(&self) -> impl Iterator<Item = (&IntCounterVec, Option<&'static str>)> {
        let accepted = EVICTED.map(|reason| (&self.accepted, Some(reason.name())));
        let refused = REFUSED.map(|reason| (&self.refused, Some(reason)));
        accepted.into_iter().chain(refused).chain([(&self.lost_seconds, None)])
    }

    /// Counts one accepted eviction of a pod of `queue` that had run for so long.
    pub fn accepted(&self, queue: &QueueName, reason: EvictionReason, ran_seconds: u64) {
        self.accepted.with_label_values(&labels(queue, &[reason.name()])).inc();
        self.lost_seconds.with_label_values(&labels(queue, &[])).inc_by(ran_seconds);
    }

    /// Counts one refused eviction of a pod of `queue`.
    pub fn refused(&self, queue: &QueueName, reason: &str) {
        self.refused.with_label_values(&labels(queue, &[reason])).inc();
    }

    /// How often that was counted.
    #[cfg(test)]
    pub(crate) fn refusals(&self, queue: &QueueName, reason: &str) -> u64 {
        self.refused.with_label_values(&labels(queue, &[reason])).get()
    }

    /// How long the evicted pods of `queue` had run.
    #[cfg(test)]
    pub(crate) fn lost(&self, queue: &QueueName) -> u64 {
        self.lost_seconds.with_label_values(&labels(queue, &[])).get()
    }
}
