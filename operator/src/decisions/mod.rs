//! The last decisions that acted, each with the snapshot that it was made from, so that it can be computed again.
//!
//! ```text
//!  snapshot, plan ──► pack (blocking thread, after the writes) ──► ring ──► /decisions ──► kubectl quotient replay
//!                                          answers to evictions ──┘
//! ```
//!
//! A decision names the pods of all teams. So it is served only to clients that may list all pods; others that may read
//! the metrics get a list without the names of pods.

mod record;
mod ring;

use std::sync::{Arc, Mutex, MutexGuard};

use quotient_engine::plan::{Plan, PodId};
use quotient_engine::snapshot::Snapshot;

use crate::lock::lock;
pub use record::{Decision, DecisionError, Evicted, Inputs, read, text};
use ring::Ring;

/// The most decisions that are kept.
const MOST: usize = 20;

/// The most bytes that they have together, where it is more than one: a decision about 20,000 pods has less than a quarter.
const MOST_BYTES: usize = 4 << 20;

/// Where decisions are kept; clones share one place.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// None if no client can ask for them.
    ring: Option<Arc<Mutex<Ring>>>,
}

impl Decisions {
    /// Keeps the last ones.
    pub fn kept() -> Self {
        Self { ring: Some(Arc::new(Mutex::new(Ring::of(MOST, MOST_BYTES)))) }
    }

    /// Begins to keep a decision if it evicts a pod that the last one did not; returns its number. Answers to its evictions
    /// are noted from now on.
    pub fn begin(&self, snapshot: &Snapshot, plan: &Plan) -> Option<u64> {
        let mut ring = self.lock()?;
        let is_news = plan.evictions.iter().any(|eviction| !ring.knows(&eviction.pod));
        is_news.then(|| ring.push(Decision::of(snapshot, plan)))
    }

    /// Forgets a decision of which nothing was carried out.
    pub fn forget(&self, number: u64) {
        if let Some(mut ring) = self.lock() {
            ring.forget(number);
        }
    }

    /// Adds what the decision was made from. Takes as long as the snapshot is large.
    pub fn keep(&self, number: u64, snapshot: &Snapshot, plan: &Plan) {
        match record::pack(snapshot, plan) {
            Ok((digest, inputs)) => {
                if let Some(mut ring) = self.lock() {
                    ring.complete(number, digest, inputs);
                }
            }
            Err(error) => tracing::warn!(%error, "a decision is not kept"),
        }
    }

    /// Notes what became of an eviction.
    pub(crate) fn answered(&self, pod: &PodId, answer: &str) {
        if let Some(mut ring) = self.lock() {
            ring.answered(pod, answer);
        }
    }

    /// What each decision is about, the newest first.
    pub fn list(&self) -> Vec<Decision> {
        self.lock().map(|ring| ring.list().cloned().collect()).unwrap_or_default()
    }

    /// One decision as a file; none if it is not kept any more. Without a number, the newest.
    pub fn file(&self, number: Option<u64>) -> Option<Vec<u8>> {
        self.lock()?.file(number)
    }

    fn lock(&self) -> Option<MutexGuard<'_, Ring>> {
        self.ring.as_deref().map(lock)
    }
}
