//! Events: what happened, told to those who look at the object it happened to.
//!
//! Telling never delays doing: what happened goes into a bounded queue, a task writes it, and what does not fit
//! is dropped and counted.

mod event;
mod happening;
mod jobs;
mod publisher;
mod scaled;
mod transitions;

use std::sync::{Arc, Mutex, PoisonError};

use quotient_engine::plan::Plan;
use tokio::sync::mpsc;

pub use happening::{Happening, JobNews, Preempted, Scaled};
pub use publisher::Publisher;
use transitions::Transitions;

use crate::metrics::Metrics;

/// How many happenings may wait.
const WAITING: usize = 4096;

/// Where happenings go. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Announcer {
    sender: mpsc::Sender<Happening>,
    metrics: Metrics,
    transitions: Arc<Mutex<Transitions>>,
}

impl Announcer {
    /// An announcer, and what it announces.
    pub fn new(metrics: Metrics) -> (Self, mpsc::Receiver<Happening>) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self { sender, metrics, transitions: Arc::default() }, receiver)
    }

    /// Tells what happened, if it is news. Never waits.
    pub fn announce(&self, happening: Happening) {
        let news = self.transitions(|transitions| transitions.of_happening(happening));
        if let Some(happening) = news {
            self.send(happening);
        }
    }

    /// Tells what is news about `plan`. Never waits.
    pub fn announce_plan(&self, plan: &Plan) {
        let news = self.transitions(|transitions| {
            let mut news = transitions.raised(plan);
            news.extend(transitions.jobs.news(plan));
            news.extend(transitions.preempted(plan));
            news
        });
        for happening in news {
            self.send(happening);
        }
    }

    fn transitions<T>(&self, judge: impl FnOnce(&mut Transitions) -> T) -> T {
        judge(&mut self.transitions.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn send(&self, happening: Happening) {
        if self.sender.try_send(happening).is_err() {
            self.metrics.writes.events_dropped.inc();
        }
    }
}
