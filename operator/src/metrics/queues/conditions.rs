//! The conditions of Queues as gauges, computed from what their statuses say at every scrape.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use prometheus::proto::Gauge;
use quotient_crds::ConditionType;
use quotient_engine::names::QueueName;

use crate::metrics::catalog::{NAMESPACE, QUEUE, label, labels, metrics};
use crate::metrics::computed::Computed;

metrics! {
    /// Gauges of the conditions of every Queue, those without a share included.
    pub(super) struct ConditionGauges: computed {
        holds: Computed<Gauge> = "quotient_queue_condition", Truth,
            [NAMESPACE, QUEUE, label("condition", "`Ready`, `QuotaSynced`, `Starved`, …")] =>
            "Whether the condition of the Queue's status is True.";
        abnormal: Computed<Gauge> = "quotient_queue_abnormal", Truth,
            [
                NAMESPACE,
                QUEUE,
                label("condition", "`Ready` and `QuotaSynced` while False, `Starved`, `Overused`, … while True"),
                label("reason", "`WaitingForPreemption`, `Fenced`, `ObserveMode`, …"),
            ] =>
            "The reason of an abnormal condition of the queue. The series exists while the condition is abnormal.";
        starved_since: Computed<Gauge> = "quotient_queue_starved_since_timestamp_seconds", Timestamp, [NAMESPACE, QUEUE] =>
            "The time since which the queue is starved. The series exists while it is.";
    }
}

impl ConditionGauges {
    /// Shows one condition of one Queue.
    pub(super) fn fill(&self, queue: &QueueName, condition: &Condition) {
        let holds = condition.status == "True";
        let of_kind = labels(queue, &[&condition.type_]);
        self.holds.show(&of_kind, f64::from(u8::from(holds)));
        let kind = ConditionType::ALL.into_iter().find(|kind| kind.as_str() == condition.type_);
        let Some(kind) = kind.filter(|kind| holds != is_normally_true(*kind)) else { return };
        let with_reason = labels(queue, &[&condition.type_, &condition.reason]);
        self.abnormal.show(&with_reason, 1.0);
        if kind == ConditionType::Starved {
            let since = condition.last_transition_time.0.as_duration().as_secs_f64();
            self.starved_since.show(&labels(queue, &[]), since);
        }
    }
}

/// Whether a condition is True while nothing is wrong.
const fn is_normally_true(kind: ConditionType) -> bool {
    matches!(kind, ConditionType::Ready | ConditionType::QuotaSynced)
}
