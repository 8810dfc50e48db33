//! Events: what happened, reported on the object that it happened to.
//!
//! Telling never delays doing: what happened goes into a bounded queue, a task writes it, and what does not fit
//! is dropped and counted.

mod event;
mod jobs;
mod notice;
mod publisher;
mod queues;
mod reclaimed;
mod scaled;
#[cfg(test)]
mod tests;
mod transitions;

use std::sync::{Arc, Mutex};

use quotient_engine::amounts::Bounds;
use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, Plan};
use tokio::sync::mpsc;

pub use notice::Notice;
pub use publisher::Publisher;
pub use queues::Change;
pub use reclaimed::{Reclaimed, Subject};
use transitions::Transitions;

use crate::lock::lock;
use crate::metrics::Metrics;

/// How many notices may wait.
const WAITING: usize = 4096;

/// Where notices go. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventRecorder {
    sender: mpsc::Sender<Notice>,
    metrics: Metrics,
    transitions: Arc<Mutex<Transitions>>,
}

impl EventRecorder {
    /// An recorder, and what it announces.
    pub fn new(metrics: Metrics) -> (Self, mpsc::Receiver<Notice>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self { sender, metrics, transitions: Arc::default() }, receiver)
    }

    /// Tells that the quota of `queue` was written, with what it allowed `before`, if there was one. Of a quota that rises in
    /// steps only the end is told. Never waits.
    pub fn quota_written(&self, queue: QueueName, before: Option<Bounds>, after: Bounds, lowers: bool) {
        let news = lock(&self.transitions).quota_written(queue, before, after, lowers);
        if let Some(notice) = news {
            self.record(notice);
        }
    }

    /// Tells the workloads of `evictions`, which the API server accepted in one cycle. Never waits.
    pub fn announce_reclaimed(&self, evictions: &[Eviction]) {
        for reclaimed in Reclaimed::of_workloads(evictions) {
            self.record(reclaimed.notice());
        }
    }

    /// Tells what is news about `plan`. Never waits.
    pub fn announce_plan(&self, plan: &Plan) {
        let news = lock(&self.transitions).of_plan(plan);
        for notice in news {
            self.record(notice);
        }
    }

    /// Tells what happened. Never waits.
    pub fn record(&self, notice: Notice) {
        if self.sender.try_send(notice).is_err() {
            self.metrics.writes.events_dropped.inc();
        }
    }
}
