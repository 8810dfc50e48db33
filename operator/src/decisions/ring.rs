//! The last decisions, as many as fit.

use std::collections::{HashMap, VecDeque};

use quotient_engine::plan::PodId;

use super::Decision;

/// Decisions with their compressed inputs, the oldest first.
#[derive(Debug)]
pub(super) struct Ring {
    kept: VecDeque<Kept>,
    most: usize,
    most_bytes: usize,
    last_number: u64,
}

/// A decision and what it was made from; nothing while that is packed.
#[derive(Debug)]
struct Kept {
    decision: Decision,
    /// Where each pod is among the evictions, by its uid: thousands are looked up in every cycle.
    places: HashMap<String, usize>,
    inputs: Vec<u8>,
}

impl Ring {
    pub(super) const fn of(most: usize, most_bytes: usize) -> Self {
        Self { kept: VecDeque::new(), most, most_bytes, last_number: 0 }
    }

    /// Whether the newest decision evicts this life of the pod.
    pub(super) fn knows(&self, pod: &PodId) -> bool {
        self.kept.back().is_some_and(|kept| kept.places.contains_key(pod.uid.as_str()))
    }

    /// Adds one and returns its number.
    pub(super) fn push(&mut self, mut decision: Decision) -> u64 {
        self.last_number = self.last_number.saturating_add(1);
        decision.number = self.last_number;
        let uids = decision.evictions.iter().map(|evicted| evicted.uid.clone());
        let places = uids.zip(0..).collect();
        self.kept.push_back(Kept { decision, places, inputs: Vec::new() });
        self.shrink();
        self.last_number
    }

    /// Adds what a decision was made from.
    pub(super) fn complete(&mut self, number: u64, digest: u64, inputs: Vec<u8>) {
        if let Some(kept) = self.kept.iter_mut().find(|kept| kept.decision.number == number) {
            kept.decision.digest = digest;
            kept.inputs = inputs;
        }
        self.shrink();
    }

    pub(super) fn forget(&mut self, number: u64) {
        self.kept.retain(|kept| kept.decision.number != number);
    }

    /// The oldest go until the rest fit. The newest stays, however large: otherwise every cycle would pack it again.
    fn shrink(&mut self) {
        while self.kept.len() > self.most || self.kept.len() > 1 && self.bytes() > self.most_bytes {
            self.kept.pop_front();
        }
    }

    fn bytes(&self) -> usize {
        self.kept.iter().map(|kept| kept.inputs.len()).sum()
    }

    /// Notes the answer in the newest decision about this life of the pod.
    pub(super) fn answered(&mut self, pod: &PodId, answer: &str) {
        for kept in self.kept.iter_mut().rev() {
            let place = kept.places.get(pod.uid.as_str());
            if let Some(evicted) = place.and_then(|place| kept.decision.evictions.get_mut(*place)) {
                evicted.answer = Some(answer.to_owned());
                return;
            }
        }
    }

    /// The newest first, as far as they are complete.
    pub(super) fn list(&self) -> impl Iterator<Item = &Decision> {
        self.complete_ones().map(|kept| &kept.decision)
    }

    pub(super) fn file(&self, number: Option<u64>) -> Option<Vec<u8>> {
        let is_wanted = |kept: &&Kept| number.is_none_or(|number| kept.decision.number == number);
        self.complete_ones().find(is_wanted).map(|kept| kept.decision.file(&kept.inputs))
    }

    fn complete_ones(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter().rev().filter(|kept| !kept.inputs.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::plan::Plan;
    use quotient_engine::snapshot::Snapshot;

    fn decision() -> Decision {
        Decision::of(&Snapshot::default(), &Plan::default())
    }

    fn numbers(ring: &Ring) -> Vec<u64> {
        ring.list().map(|decision| decision.number).collect()
    }

    #[test]
    fn the_last_ones_are_kept_as_far_as_they_fit() {
        let mut ring = Ring::of(3, 100);
        let push = |ring: &mut Ring, inputs| {
            let number = ring.push(decision());
            assert_eq!(ring.file(Some(number)), None, "it is not complete");
            ring.complete(number, 1, inputs);
        };
        for bytes in [10, 10, 10, 10] {
            push(&mut ring, vec![0; bytes]);
        }
        assert_eq!(numbers(&ring), [4, 3, 2]);
        push(&mut ring, vec![0; 95]);
        assert_eq!(numbers(&ring), [5]);
        push(&mut ring, vec![0; 101]);
        assert_eq!(numbers(&ring), [6]);
        push(&mut ring, vec![7]);
        assert_eq!(ring.file(Some(7)), ring.file(None));
        assert!(ring.file(Some(7)).unwrap().ends_with(&[b'\n', 7]));
        assert_eq!(numbers(&ring), [7]);
        ring.forget(7);
        assert_eq!(numbers(&ring), [0_u64; 0]);
    }
}
