//! Events: what happened, reported on the object that it happened to.
//!
//! Telling never delays doing: what happened goes into a bounded queue, a task writes it, and what does not fit
//! is dropped and counted.

mod event;
mod event_text;
mod jobs;
mod notice;
mod object;
mod publisher;
mod reclaimed;
mod scaled;
#[cfg(test)]
mod tests;
mod transitions;

use std::sync::{Arc, Mutex};

use quotient_engine::plan::{Eviction, Plan};
use tokio::sync::mpsc;

pub use notice::{Change, JobNews, Notice};
pub use publisher::Publisher;
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

    /// Tells what happened, if it is news. Never waits.
    pub fn record(&self, notice: Notice) {
        let news = lock(&self.transitions).of_notice(notice);
        if let Some(notice) = news {
            self.send(notice);
        }
    }

    /// Tells the workloads of `evictions`, which the API server accepted in one cycle. Never waits.
    pub fn announce_reclaimed(&self, evictions: &[Eviction]) {
        for reclaimed in Reclaimed::of_workloads(evictions) {
            self.send(Notice::Reclaimed(Box::new(reclaimed)));
        }
    }

    /// Tells what is news about `plan`. Never waits.
    pub fn announce_plan(&self, plan: &Plan) {
        let news = lock(&self.transitions).of_plan(plan);
        for notice in news {
            self.send(notice);
        }
    }

    fn send(&self, notice: Notice) {
        if self.sender.try_send(notice).is_err() {
            self.metrics.writes.events_dropped.inc();
        }
    }
}
