//! What every queue loses by evictions, and which of them were refused.

use std::collections::BTreeMap;
use std::time::Duration;

use prometheus::proto::Counter;
use quotient_engine::names::QueueName;
use quotient_engine::reasons::EvictionReason;

use crate::metrics::catalog::{NAMESPACE, QUEUE, label, labels, metrics};
use crate::metrics::computed::Computed;

/// What makes a pod go.
const EVICTED: [EvictionReason; 3] =
    [EvictionReason::Reclaimed, EvictionReason::Overcommitted, EvictionReason::MovedAside];

/// What stands in the way of an eviction.
const REFUSED: [&str; 6] = ["Budget", "SeveralBudgets", "Forbidden", "ServerError", "Overloaded", "Other"];

metrics! {
    /// Counters by the queue whose pods it is about.
    pub(super) struct EvictionCounters: computed {
        accepted: Computed<Counter> = "quotient_evictions_total", Count,
            [NAMESPACE, QUEUE, label("reason", "`Reclaimed`, `Overcommitted`, `MovedAside`")] =>
            "Evictions of the queue's pods that the API server accepted.";
        refused: Computed<Counter> = "quotient_evictions_blocked_total", Count,
            [
                NAMESPACE,
                QUEUE,
                label("reason", "`Budget`, `SeveralBudgets`, `Forbidden`, `ServerError`, `Overloaded`, `Other`"),
            ] =>
            "Evictions of the queue's pods that the API server refused, by reason. Quotient asks for each again.";
        lost_seconds: Computed<Counter> = "quotient_evicted_pod_seconds_total", Seconds, [NAMESPACE, QUEUE] =>
            "The time that the queue's evicted pods had run, added up: the lost work, if the pods saved none of it.";
    }
}

/// The evictions of one queue's pods. Everything begins at 0, so that the first one is seen to happen.
#[derive(Clone, Debug)]
pub(crate) struct Evictions {
    pub(crate) accepted: BTreeMap<&'static str, u32>,
    pub(crate) refused: BTreeMap<&'static str, u32>,
    pub(crate) lost: Duration,
}

impl Default for Evictions {
    fn default() -> Self {
        let accepted = EVICTED.map(|reason| (reason.name(), 0)).into();
        Self { accepted, refused: REFUSED.map(|reason| (reason, 0)).into(), lost: Duration::ZERO }
    }
}

impl Evictions {
    pub(super) fn accept(&mut self, reason: EvictionReason, ran: Duration) {
        let count = self.accepted.entry(reason.name()).or_default();
        *count = count.saturating_add(1);
        self.lost = self.lost.saturating_add(ran);
    }

    pub(super) fn refuse(&mut self, reason: &'static str) {
        let count = self.refused.entry(reason).or_default();
        *count = count.saturating_add(1);
    }
}

impl EvictionCounters {
    /// Shows those of one queue.
    pub(super) fn fill(&self, queue: &QueueName, evictions: &Evictions) {
        for (counter, counts) in [(&self.accepted, &evictions.accepted), (&self.refused, &evictions.refused)]
        {
            for (reason, &count) in counts {
                counter.show(&labels(queue, &[reason]), f64::from(count));
            }
        }
        self.lost_seconds.show(&labels(queue, &[]), evictions.lost.as_secs_f64());
    }
}
