//! The names under which dashboards for operators look: those of controller-runtime and client-go.

use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec, exponential_buckets};

use super::catalogue::{Catalogue, Label, Unit, label, metric};

/// The one controller there is: it reconciles all Queues together.
const CONTROLLER: &str = "queue";

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CycleResult {
    /// Everything was asked for; single refusals are tried again by themselves.
    Success,
    /// Another writer wrote the ledger: the next decision follows at once.
    Requeue,
    /// Nothing could be written, because the ledger is not known or cannot be written.
    Error,
}

impl CycleResult {
    const ALL: [Self; 3] = [Self::Success, Self::Requeue, Self::Error];

    const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Requeue => "requeue",
            Self::Error => "error",
        }
    }
}

/// Metrics whose names and meanings others have set.
#[derive(Clone, Debug)]
pub struct StandardMetrics {
    reconciles: IntCounterVec,
    errors: IntCounterVec,
    reconcile_time: HistogramVec,
    active: IntGaugeVec,
    adds: IntCounterVec,
    depth: IntGaugeVec,
    queued: HistogramVec,
    work: HistogramVec,
    requests: IntCounterVec,
    request_time: HistogramVec,
    leader: IntGaugeVec,
}

const CONTROLLERS: [Label; 1] = [label("controller", "`queue`")];
const WORK_QUEUES: [Label; 2] = [label("name", "`queue`"), label("controller", "`queue`")];

impl StandardMetrics {
    pub(super) fn declare(into: &mut Catalogue<'_>) -> Result<Self, prometheus::Error> {
        into.under("Standard names");
        let metrics = Self {
            reconciles: into.counters(metric(
                "controller_runtime_reconcile_total",
                Unit::Count,
                &[label("controller", "`queue`"), label("result", "`success`, `requeue`, `error`")],
                "Cycles as leader, by result. requeue: another writer changed the ledger. error: the ledger cannot be read or written.",
            ))?,
            errors: into.counters(metric(
                "controller_runtime_reconcile_errors_total",
                Unit::Count,
                &CONTROLLERS,
                "Cycles as leader that wrote nothing because the ledger could not be read or written.",
            ))?,
            reconcile_time: into.histograms(
                metric(
                    "controller_runtime_reconcile_time_seconds",
                    Unit::Seconds,
                    &CONTROLLERS,
                    "How long a cycle as leader took, dropped ones included.",
                ),
                exponential_buckets(0.005, 2.0, 14)?,
            )?,
            active: into.whole_gauges(metric(
                "controller_runtime_active_workers",
                Unit::Count,
                &CONTROLLERS,
                "1 while a cycle is under way. There is never more than one.",
            ))?,
            adds: into.counters(metric(
                "workqueue_adds_total",
                Unit::Count,
                &WORK_QUEUES,
                "How many times a change, a timer or the resync woke the loop.",
            ))?,
            depth: into.whole_gauges(metric(
                "workqueue_depth",
                Unit::Count,
                &WORK_QUEUES,
                "1 while a cycle is due and has not begun. Changes that come meanwhile are part of it.",
            ))?,
            queued: into.histograms(
                metric(
                    "workqueue_queue_duration_seconds",
                    Unit::Seconds,
                    &WORK_QUEUES,
                    "How long a cycle that was due waited before it began (--cycle-interval-milliseconds).",
                ),
                exponential_buckets(0.001, 2.0, 12)?,
            )?,
            work: into.histograms(
                metric(
                    "workqueue_work_duration_seconds",
                    Unit::Seconds,
                    &WORK_QUEUES,
                    "How long a cycle took, on the leader or on a replica that does not lead.",
                ),
                exponential_buckets(0.001, 2.0, 15)?,
            )?,
            requests: into.counters(metric(
                "rest_client_requests_total",
                Unit::Count,
                &[
                    label("code", "the HTTP status, or `<error>`"),
                    label("method", "`GET`, `POST`, `PUT`, `PATCH`, `DELETE`"),
                ],
                "Requests to the API server. A watch counts once, when it is opened.",
            ))?,
            request_time: into.histograms(
                metric(
                    "rest_client_request_duration_seconds",
                    Unit::Seconds,
                    &[label("verb", "`GET`, `POST`, `PUT`, `PATCH`, `DELETE`")],
                    "The time until the API server began to answer.",
                ),
                exponential_buckets(0.001, 2.0, 15)?,
            )?,
            leader: into.whole_gauges(metric(
                "leader_election_master_status",
                Unit::Truth,
                &[label("name", "the Lease's")],
                "1 while this replica leads.",
            ))?,
        };
        for result in CycleResult::ALL {
            metrics.reconciles.with_label_values(&[CONTROLLER, result.name()]);
        }
        metrics.errors.with_label_values(&[CONTROLLER]);
        metrics.active.with_label_values(&[CONTROLLER]);
        metrics.depth.with_label_values(&[CONTROLLER, CONTROLLER]);
        metrics.adds.with_label_values(&[CONTROLLER, CONTROLLER]);
        Ok(metrics)
    }

    /// A cycle is due.
    pub fn due(&self) {
        self.adds.with_label_values(&[CONTROLLER, CONTROLLER]).inc();
        self.depth.with_label_values(&[CONTROLLER, CONTROLLER]).set(1);
    }

    /// It begins, after it has waited for so long.
    pub fn begun(&self, waited: Duration) {
        self.depth.with_label_values(&[CONTROLLER, CONTROLLER]).set(0);
        self.queued.with_label_values(&[CONTROLLER, CONTROLLER]).observe(waited.as_secs_f64());
        self.active.with_label_values(&[CONTROLLER]).set(1);
    }

    /// It has ended after so long. `result` is that of a leader.
    pub fn ended(&self, took: Duration, result: Option<CycleResult>) {
        self.active.with_label_values(&[CONTROLLER]).set(0);
        self.work.with_label_values(&[CONTROLLER, CONTROLLER]).observe(took.as_secs_f64());
        let Some(result) = result else { return };
        self.reconcile_time.with_label_values(&[CONTROLLER]).observe(took.as_secs_f64());
        self.reconciles.with_label_values(&[CONTROLLER, result.name()]).inc();
        if result == CycleResult::Error {
            self.errors.with_label_values(&[CONTROLLER]).inc();
        }
    }

    /// One request to the API server was answered with `code`, or not at all.
    pub fn requested(&self, method: &str, code: Option<u16>, took: Duration) {
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
        self.requests.with_label_values(&[code.as_str(), method]).inc();
        self.request_time.with_label_values(&[method]).observe(took.as_secs_f64());
    }

    /// Whether this replica leads, by the Lease of this name.
    pub fn leads(&self, lease: &str, leads: bool) {
        self.leader.with_label_values(&[lease]).set(i64::from(leads));
    }
}
