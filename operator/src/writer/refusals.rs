//! Pods that are not to be evicted for now, and when to ask again.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId};
use tokio::time::Instant;

use crate::executor::{Backoff, Schedule};
use crate::status::RefusedEviction;

/// The wait after the API server had too much to do.
const BUSY: Duration = Duration::from_secs(1);

/// How long a refusal is remembered that may be a passing one.
const DOUBTED: Duration = Duration::from_secs(60);

/// Which evictions were refused and which pods are left alone, by pod.
///
/// It is a hint that saves requests. After a restart it is empty, and every pod is asked for once more.
#[derive(Debug)]
pub(super) struct Refusals {
    refused: Backoff<PodId>,
    /// The queues that gain the room of pods that were refused.
    beneficiaries: BTreeMap<PodId, Option<QueueName>>,
    /// Until when pods are left alone, whatever was said of them.
    resting: BTreeMap<PodId, Instant>,
    /// When pods were refused for a reason that may be a passing one.
    doubted: BTreeMap<PodId, Instant>,
    /// When it was looked last which waits have ended.
    looked: Option<Instant>,
}

impl Refusals {
    pub(super) const fn new() -> Self {
        Self {
            refused: Backoff::new(Schedule::EVICTIONS),
            beneficiaries: BTreeMap::new(),
            resting: BTreeMap::new(),
            doubted: BTreeMap::new(),
            looked: None,
        }
    }

    /// Whether `pod` is not to be asked for yet.
    pub(super) fn is_waiting(&self, pod: &PodId, now: Instant) -> bool {
        self.refused.is_waiting(pod, now) || self.is_resting(pod, now)
    }

    /// Whether `pod` was asked for a moment ago.
    pub(super) fn is_resting(&self, pod: &PodId, now: Instant) -> bool {
        self.resting.get(pod).is_some_and(|until| now < *until)
    }

    /// The eviction was refused. Returns when it is worth another try.
    pub(super) fn refused(&mut self, eviction: &Eviction, why: String, now: Instant) -> Instant {
        let pod = &eviction.pod;
        self.beneficiaries.insert(pod.clone(), eviction.beneficiary.clone());
        self.refused.failed(pod, why, true, now);
        self.refused.until(pod).unwrap_or(now)
    }

    /// The API server had no time for the eviction of `pod`.
    pub(super) fn busy(&mut self, pod: &PodId, now: Instant) {
        self.rest(pod, BUSY, now);
    }

    /// `pod` is not asked for again for so long.
    pub(super) fn rest(&mut self, pod: &PodId, length: Duration, now: Instant) {
        self.resting.insert(pod.clone(), now.checked_add(length).unwrap_or(now));
    }

    /// `pod` was refused, and no budget is the reason. Whether it is worth asking once more, in a moment, before others go
    /// instead: it is the first time.
    pub(super) fn doubts(&mut self, pod: &PodId, now: Instant) -> bool {
        let is_known = self.refused.until(pod).is_some();
        let is_first = !is_known && self.doubted.insert(pod.clone(), now).is_none();
        if is_first {
            self.busy(pod, now);
        }
        is_first
    }

    /// `pod` was evicted or is gone: its namespace's budgets let pods go again.
    pub(super) fn granted(&mut self, pod: &PodId) {
        self.refused.clear(pod);
        self.doubted.remove(pod);
        self.refused.restart(|other| other.namespace == pod.namespace);
    }

    /// Forgets what was long ago, and that pods are left alone that are not `wanted` gone. The waits that have ended by now are
    /// looked at.
    pub(super) fn forget_old(&mut self, wanted: &HashSet<&PodId>, now: Instant) {
        self.looked = Some(now);
        self.refused.forget_old(now);
        self.beneficiaries.retain(|pod, _| self.refused.until(pod).is_some());
        self.resting.retain(|pod, until| now < *until && wanted.contains(pod));
        self.doubted.retain(|_, at| at.checked_add(DOUBTED).is_some_and(|old| now < old));
    }

    /// All refusals that still count.
    pub(super) fn all(&self) -> Vec<RefusedEviction<'_>> {
        let refusal = |(pod, why, until)| {
            let beneficiary = self.beneficiaries.get(pod).and_then(Option::as_ref);
            RefusedEviction { pod, beneficiary, why, until }
        };
        self.refused.all().map(refusal).collect()
    }

    /// When the first wait ends that had not ended when it was looked last; it may have ended since.
    pub(super) fn next(&self) -> Option<Instant> {
        let refused = self.refused.all().map(|(.., until)| until);
        refused.chain(self.resting.values().copied()).filter(|until| self.looked < Some(*until)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::plan;

    const FIRST: Duration = Duration::from_secs(10);
    const LONGEST: Duration = Duration::from_secs(60);

    fn eviction(uid: &str) -> Eviction {
        Eviction { beneficiary: Some(QueueName::new("b", "team")), ..plan::eviction(uid) }
    }

    fn budget() -> String {
        "budget".to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn others_of_the_namespace_may_be_asked_for_and_success_resets() {
        let mut refusals = Refusals::new();
        let now = Instant::now();
        let later = refusals.refused(&eviction("1"), budget(), now);
        refusals.refused(&eviction("1"), budget(), later);
        refusals.refused(&eviction("2"), budget(), now);
        assert!(!refusals.is_waiting(&eviction("3").pod, now));
        refusals.granted(&eviction("2").pod);
        assert!(!refusals.is_waiting(&eviction("2").pod, now));
        // What was refused stays so, and its next wait is a first one.
        assert!(refusals.is_waiting(&eviction("1").pod, now));
        assert_eq!(refusals.refused(&eviction("1"), budget(), now), now + FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn long_after_and_after_success_a_refusal_without_a_budget_is_a_first_one_again() {
        let mut refusals = Refusals::new();
        let (now, pod) = (Instant::now(), eviction("1").pod);
        assert!(refusals.doubts(&pod, now) && !refusals.doubts(&pod, now + BUSY));
        let later = now + BUSY + LONGEST;
        refusals.forget_old(&[&pod].into(), later);
        assert!(refusals.doubts(&pod, later));
        refusals.granted(&pod);
        assert!(refusals.doubts(&pod, later));
        refusals.granted(&pod);
        refusals.refused(&eviction("1"), budget(), now);
        assert!(!refusals.doubts(&pod, now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_is_due_until_it_was_looked_at_since_and_none_of_a_pod_that_may_stay() {
        let (now, pod) = (Instant::now(), eviction("1").pod);
        for (looked, wanted, due) in [(BUSY / 2, true, true), (BUSY, true, false), (BUSY / 2, false, false)] {
            let mut refusals = Refusals::new();
            refusals.busy(&pod, now);
            refusals.forget_old(&Some(&pod).filter(|_| wanted).into_iter().collect(), now + looked);
            // However late it is asked: it was not looked since the wait ended.
            assert_eq!(refusals.next(), due.then_some(now + BUSY), "{looked:?} {wanted}");
        }
    }
}
