//! The names under which dashboards for operators look: those of controller-runtime and client-go.

use std::time::Duration;

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

use super::catalog::{Label, label, metrics};

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

const CONTROLLERS: [Label; 1] = [label("controller", "`queue`")];
const WORK_QUEUES: [Label; 2] = [label("name", "`queue`"), label("controller", "`queue`")];

metrics! {
    /// Metrics whose names and meanings others have set.
    pub struct StandardMetrics: registered {
        reconciles: IntCounterVec = "controller_runtime_reconcile_total", Count,
            [label("controller", "`queue`"), label("result", "`success`, `requeue`, `error`")] =>
            "Cycles as leader, by result. requeue: another writer changed the ledger. error: the ledger cannot be read or written.";
        errors: IntCounterVec = "controller_runtime_reconcile_errors_total", Count, CONTROLLERS =>
            "Cycles as leader that wrote nothing because the ledger could not be read or written.";
        reconcile_time: HistogramVec = "controller_runtime_reconcile_time_seconds", Seconds, CONTROLLERS,
            doubling(0.005, 14) =>
            "How long a cycle as leader took, dropped ones included.";
        active: IntGaugeVec = "controller_runtime_active_workers", Count, CONTROLLERS =>
            "1 while a cycle is under way. There is never more than one.";
        adds: IntCounterVec = "workqueue_adds_total", Count, WORK_QUEUES =>
            "How many times a change, a timer or the resync woke the loop.";
        depth: IntGaugeVec = "workqueue_depth", Count, WORK_QUEUES =>
            "1 while a cycle is due and has not begun. Changes that come meanwhile are part of it.";
        queued: HistogramVec = "workqueue_queue_duration_seconds", Seconds, WORK_QUEUES, doubling(0.001, 12) =>
            "How long a cycle that was due waited before it began (--cycle-interval-milliseconds).";
        work: HistogramVec = "workqueue_work_duration_seconds", Seconds, WORK_QUEUES, doubling(0.001, 15) =>
            "How long a cycle took, on the leader or on a replica that does not lead.";
        requests: IntCounterVec = "rest_client_requests_total", Count,
            [
                label("code", "the HTTP status, or `<error>`"),
                label("method", "`GET`, `POST`, `PUT`, `PATCH`, `DELETE`"),
            ] =>
            "Requests to the API server. A watch counts once, when it is opened.";
        request_time: HistogramVec = "rest_client_request_duration_seconds", Seconds,
            [label("verb", "`GET`, `POST`, `PUT`, `PATCH`, `DELETE`")], doubling(0.001, 15) =>
            "The time until the API server began to answer.";
        leader: IntGaugeVec = "leader_election_master_status", Truth, [label("name", "the Lease's")] =>
            "1 while this replica leads.";
    }
}

impl StandardMetrics {
    /// Begins at 0, so that the first one is seen to happen.
    pub(super) fn begin(&self) {
        for result in CycleResult::ALL {
            self.reconciles.with_label_values(&[CONTROLLER, result.name()]);
        }
        self.errors.with_label_values(&[CONTROLLER]);
        self.active.with_label_values(&[CONTROLLER]);
        self.depth.with_label_values(&[CONTROLLER, CONTROLLER]);
        self.adds.with_label_values(&[CONTROLLER, CONTROLLER]);
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
