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

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use quotient_engine::plan::{Plan, PodId};
use quotient_engine::snapshot::Snapshot;

use crate::lock::lock;
pub use record::{Decision, DecisionError, Evicted, Inputs, read, text};

/// The most decisions that are kept.
const MOST: usize = 20;

/// The most bytes that they have together, where it is more than one: a decision about 20,000 pods has less than a quarter.
const MOST_BYTES: usize = 4 << 20;

/// Where decisions are kept; clones share one place. None if no client can ask for them.
#[derive(Clone, Debug, Default)]
pub struct Decisions(Option<Arc<Mutex<Ring>>>);

/// The last decisions, as many as fit, the oldest first.
#[derive(Debug)]
struct Ring {
    kept: VecDeque<Kept>,
    most: usize,
    most_bytes: usize,
    last_number: u64,
}

/// A decision and what it was made from, compressed; nothing while that is packed.
#[derive(Debug)]
struct Kept {
    decision: Decision,
    /// Where each pod is among the evictions, by its uid: thousands are looked up in every cycle.
    places: HashMap<String, usize>,
    inputs: Vec<u8>,
}

impl Decisions {
    /// Keeps the last ones.
    pub fn kept() -> Self {
        Self::within(MOST, MOST_BYTES)
    }

    fn within(most: usize, most_bytes: usize) -> Self {
        let ring = Ring { kept: VecDeque::new(), most, most_bytes, last_number: 0 };
        Self(Some(Arc::new(Mutex::new(ring))))
    }

    /// Whether a decision is to be kept: `plan` evicts a pod that the last one did not.
    pub fn is_news(&self, plan: &Plan) -> bool {
        let Some(ring) = self.ring() else { return false };
        let is_known =
            |pod: &PodId| ring.kept.back().is_some_and(|newest| newest.places.contains_key(pod.uid.as_str()));
        plan.evictions.iter().any(|eviction| !is_known(&eviction.pod))
    }

    /// Begins to keep a decision that is carried out; returns its number. Answers to its evictions are noted from now on.
    pub fn begin(&self, snapshot: &Snapshot, plan: &Plan) -> Option<u64> {
        Some(self.ring()?.push(Decision::of(snapshot, plan)))
    }

    /// Adds what the decision was made from. Takes as long as the snapshot is large.
    pub fn keep(&self, number: u64, snapshot: &Snapshot, plan: &Plan) {
        match record::pack(snapshot, plan) {
            Ok((digest, inputs)) => {
                if let Some(mut ring) = self.ring() {
                    ring.complete(number, digest, inputs);
                }
            }
            Err(error) => tracing::warn!(%error, "a decision is not kept"),
        }
    }

    /// Notes what became of an eviction, in the newest decision about this life of the pod.
    pub(crate) fn answered(&self, pod: &PodId, answer: &str) {
        let Some(mut ring) = self.ring() else { return };
        let evicted = ring.kept.iter_mut().rev().find_map(|kept| {
            let place = kept.places.get(pod.uid.as_str())?;
            kept.decision.evictions.get_mut(*place)
        });
        if let Some(evicted) = evicted {
            evicted.answer = Some(answer.to_owned());
        }
    }

    /// What each decision is about, the newest first, as far as they are complete.
    pub fn list(&self) -> Vec<Decision> {
        let Some(ring) = self.ring() else { return Vec::new() };
        ring.complete_ones().map(|kept| kept.decision.clone()).collect()
    }

    /// One decision as a file; none if it is not kept any more. Without a number, the newest.
    pub fn file(&self, number: Option<u64>) -> Option<Vec<u8>> {
        let ring = self.ring()?;
        let is_wanted = |kept: &&Kept| number.is_none_or(|number| kept.decision.number == number);
        ring.complete_ones().find(is_wanted).map(|kept| kept.decision.file(&kept.inputs))
    }

    fn ring(&self) -> Option<MutexGuard<'_, Ring>> {
        self.0.as_deref().map(lock)
    }
}

impl Ring {
    /// Adds one and returns its number.
    fn push(&mut self, mut decision: Decision) -> u64 {
        self.last_number = self.last_number.saturating_add(1);
        decision.number = self.last_number;
        let uids = decision.evictions.iter().map(|evicted| evicted.uid.clone());
        let places = uids.zip(0..).collect();
        self.kept.push_back(Kept { decision, places, inputs: Vec::new() });
        self.shrink();
        self.last_number
    }

    fn complete(&mut self, number: u64, digest: u64, inputs: Vec<u8>) {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.decision.number == number) {
            kept.decision.digest = digest;
            kept.inputs = inputs;
        }
        self.shrink();
    }

    /// The oldest go until the rest fit. The newest stays, however large: otherwise every cycle would pack it again.
    fn shrink(&mut self) {
        let bytes = |kept: &VecDeque<Kept>| kept.iter().map(|kept| kept.inputs.len()).sum::<usize>();
        while self.kept.len() > self.most || self.kept.len() > 1 && bytes(&self.kept) > self.most_bytes {
            self.kept.pop_front();
        }
    }

    fn complete_ones(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().rev().filter(|kept| !kept.inputs.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_as_far_as_they_fit() {
        let decisions = Decisions::within(3, 100);
        let push = |inputs| {
            let mut ring = decisions.ring().unwrap();
            let number = ring.push(Decision::of(&Snapshot::default(), &Plan::default()));
            assert_eq!(ring.complete_ones().filter(|kept| kept.decision.number == number).count(), 0);
            ring.complete(number, 1, inputs);
        };
        let numbers = || -> Vec<u64> { decisions.list().iter().map(|decision| decision.number).collect() };
        for bytes in [10, 10, 10, 10] {
            push(vec![0; bytes]);
        }
        assert_eq!(numbers(), [4, 3, 2]);
        push(vec![0; 95]);
        assert_eq!(numbers(), [5]);
        push(vec![0; 101]);
        assert_eq!(numbers(), [6]);
        push(vec![7]);
        assert_eq!(decisions.file(Some(7)), decisions.file(None));
        assert!(decisions.file(Some(7)).unwrap().ends_with(&[b'\n', 7]));
        assert_eq!(numbers(), [7]);
    }
}
