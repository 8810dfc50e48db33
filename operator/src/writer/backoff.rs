//! Pods that may not be evicted for now, and when to ask again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use quotient_engine::names::QueueName;
use quotient_engine::plan::{Eviction, PodId};
use tokio::time::Instant;

/// The first wait after a refusal.
const FIRST: Duration = Duration::from_secs(10);
/// The longest. After as much time again without a refusal the next one counts as the first.
const LONGEST: Duration = Duration::from_secs(60);
/// The wait after the API server had too much to do.
const BUSY: Duration = Duration::from_secs(1);

/// Which evictions were refused, by pod.
///
/// It is a hint that saves requests. After a restart it is empty, and every pod is asked for once more.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    refused: BTreeMap<PodId, Refused>,
    busy: BTreeMap<PodId, Instant>,
    /// When pods were refused for a reason that may be a passing one.
    doubted: BTreeMap<PodId, Instant>,
}

/// One refusal that still counts.
#[derive(Debug)]
struct Refused {
    /// For whom the pod should have left.
    beneficiary: Option<QueueName>,
    why: String,
    wait: Duration,
    until: Instant,
}

impl Backoff {
    /// Whether `pod` is not to be asked for yet.
    pub(super) fn is_waiting(&self, pod: &PodId, now: Instant) -> bool {
        let refused = self.refused.get(pod).map(|refused| refused.until);
        [refused, self.busy.get(pod).copied()].into_iter().flatten().any(|until| now < until)
    }

    /// The eviction was refused. Returns when it is worth another try.
    pub(super) fn refused(&mut self, eviction: &Eviction, why: String, now: Instant) -> Instant {
        let former = self.refused.get(&eviction.pod).map(|refused| refused.wait).unwrap_or_default();
        let wait = former.saturating_mul(2).clamp(FIRST, LONGEST);
        let until = now.checked_add(wait).unwrap_or(now);
        let beneficiary = eviction.beneficiary.clone();
        self.refused.insert(eviction.pod.clone(), Refused { beneficiary, why, wait, until });
        until
    }

    /// The API server had no time for the eviction of `pod`.
    pub(super) fn busy(&mut self, pod: &PodId, now: Instant) {
        self.busy.insert(pod.clone(), now.checked_add(BUSY).unwrap_or(now));
    }

    /// `pod` was refused, and no budget is the reason. Whether it is worth asking once more, in a moment, before others go
    /// instead: it is the first time.
    pub(super) fn doubts(&mut self, pod: &PodId, now: Instant) -> bool {
        let is_first = !self.refused.contains_key(pod) && self.doubted.insert(pod.clone(), now).is_none();
        if is_first {
            self.busy(pod, now);
        }
        is_first
    }

    /// `pod` was evicted or is gone: its namespace's budgets let pods go again.
    pub(super) fn granted(&mut self, pod: &PodId) {
        self.refused.remove(pod);
        self.doubted.remove(pod);
        let others = self.refused.iter_mut().filter(|(other, _)| other.namespace == pod.namespace);
        for (_, refused) in others {
            refused.wait = Duration::ZERO;
        }
    }

    /// Forgets what was long ago.
    pub(super) fn forget_old(&mut self, now: Instant) {
        self.refused.retain(|_, refused| refused.until.checked_add(LONGEST).is_some_and(|old| now < old));
        self.busy.retain(|_, until| now < *until);
        self.doubted.retain(|_, at| at.checked_add(LONGEST).is_some_and(|old| now < old));
    }

    /// Why pods that should leave for `queue` may not now, by pod.
    ///
    /// A refusal stands until its wait is over, and on while the pod is `wanted` gone: it has not been asked for again
    /// yet, and most likely the answer will be the same.
    pub(super) fn refusals_for<'a>(
        &'a self,
        queue: &QueueName,
        wanted: &BTreeSet<&PodId>,
        now: Instant,
    ) -> impl Iterator<Item = (&'a PodId, &'a str)> {
        self.refused
            .iter()
            .filter(move |(pod, refused)| now < refused.until || wanted.contains(pod))
            .filter(move |(_, refused)| refused.beneficiary.as_ref() == Some(queue))
            .map(|(pod, refused)| (pod, refused.why.as_str()))
    }

    /// Why `pod` was refused last.
    pub(super) fn why(&self, pod: &PodId) -> Option<&str> {
        self.refused.get(pod).map(|refused| refused.why.as_str())
    }

    /// When the first of the waits that still run ends.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        let refused = self.refused.values().map(|refused| refused.until);
        refused.chain(self.busy.values().copied()).filter(|until| *until > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quotient_engine::amounts::Amounts;
    use quotient_engine::plan::Stage;
    use quotient_engine::reason::Reason;

    fn gainer() -> QueueName {
        QueueName::new("b", "team")
    }

    fn eviction(uid: &str) -> Eviction {
        Eviction {
            pod: PodId { namespace: "a".into(), name: uid.into(), uid: uid.into() },
            workload: None,
            queue: QueueName::new("a", "team"),
            beneficiary: Some(gainer()),
            reason: Reason::Reclaimed,
            stage: Stage::Committed,
            rank: None,
            priority: 0,
            requests: Amounts::new(),
            used: Amounts::new(),
            deserved: Amounts::new(),
            grace_seconds: None,
        }
    }

    fn budget() -> String {
        "budget".to_owned()
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::default();
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..5 {
            let until = backoff.refused(&eviction("1"), budget(), now);
            waits.push(until.duration_since(now).as_secs());
            assert_eq!(backoff.next(now), Some(until));
            assert!(
                backoff.is_waiting(&eviction("1").pod, now) && !backoff.is_waiting(&eviction("1").pod, until)
            );
            now = until;
            backoff.forget_old(now);
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
        backoff.forget_old(now + LONGEST);
        assert_eq!(backoff.refused(&eviction("1"), budget(), now), now + FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn others_of_the_namespace_may_be_asked_for_and_success_resets() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        let later = backoff.refused(&eviction("1"), budget(), now);
        backoff.refused(&eviction("1"), budget(), later);
        backoff.refused(&eviction("2"), budget(), now);
        assert!(!backoff.is_waiting(&eviction("3").pod, now));
        backoff.granted(&eviction("2").pod);
        assert!(!backoff.is_waiting(&eviction("2").pod, now));
        // What was refused stays so, and its next wait is a first one.
        assert!(backoff.is_waiting(&eviction("1").pod, now));
        assert_eq!(backoff.refused(&eviction("1"), budget(), now), now + FIRST);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_it_is_known_while_it_lasts() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        let until = backoff.refused(&eviction("1"), budget(), now);
        let told = |queue: &QueueName, wanted: &[&PodId], now| {
            let wanted = wanted.iter().copied().collect();
            let all = backoff.refusals_for(queue, &wanted, now);
            all.map(|(pod, why)| format!("{}: {why}", pod.name)).collect::<Vec<_>>()
        };
        let none = Vec::<String>::new();
        assert_eq!(told(&gainer(), &[], now), ["1: budget"]);
        assert_eq!(told(&QueueName::new("c", "team"), &[], now), none);
        assert_eq!(told(&gainer(), &[], until), none);
        // Then it is asked for again, and until the answer is there it would be wrong to say that nothing is refused.
        assert_eq!(told(&gainer(), &[&eviction("1").pod], until), ["1: budget"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_refusal_without_a_budget_is_doubted_for_a_second() {
        let mut backoff = Backoff::default();
        let (now, pod) = (Instant::now(), eviction("1").pod);
        assert!(backoff.doubts(&pod, now) && backoff.is_waiting(&pod, now));
        assert!(!backoff.is_waiting(&pod, now + BUSY));
        backoff.forget_old(now + BUSY);
        assert!(!backoff.doubts(&pod, now + BUSY));
        // Long after, and after success, the next one is a first one again.
        backoff.forget_old(now + BUSY + LONGEST);
        assert!(backoff.doubts(&pod, now + BUSY + LONGEST));
        backoff.granted(&pod);
        assert!(backoff.doubts(&pod, now + BUSY + LONGEST));
        backoff.granted(&pod);
        backoff.refused(&eviction("1"), budget(), now);
        assert!(!backoff.doubts(&pod, now));
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_server_is_left_alone_for_a_second() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        backoff.busy(&eviction("1").pod, now);
        assert!(backoff.is_waiting(&eviction("1").pod, now));
        assert_eq!(backoff.next(now), Some(now + BUSY));
        assert_eq!(backoff.refusals_for(&gainer(), &BTreeSet::new(), now).count(), 0);
        backoff.forget_old(now + BUSY);
        assert_eq!(backoff.next(now), None);
    }
}
