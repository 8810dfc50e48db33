//! Pods that may not be evicted for now, and when to ask again.

use std::collections::BTreeMap;
use std::time::Duration;

use quotient_engine::names::{Namespace, PodUid};
use quotient_engine::plan::PodId;
use tokio::time::Instant;

/// The first wait after a refusal.
const FIRST: Duration = Duration::from_secs(10);
/// The longest.
const LONGEST: Duration = Duration::from_secs(60);

/// Which evictions a disruption budget refused, by namespace: budgets are a namespace's own.
///
/// It is a hint that saves requests. After a restart it is empty, and every pod is asked for once more.
#[derive(Debug, Default)]
pub(super) struct Backoff(BTreeMap<Namespace, Refused>);

#[derive(Debug)]
struct Refused {
    wait: Duration,
    until: Instant,
    pods: BTreeMap<PodUid, String>,
}

impl Backoff {
    /// Why `pod` is not to be asked for yet, if so. Pods of the namespace that were never refused may be.
    pub(super) fn refusal(&self, pod: &PodId, now: Instant) -> Option<&str> {
        let refused = self.0.get(&pod.namespace).filter(|refused| now < refused.until)?;
        refused.pods.get(&pod.uid).map(String::as_str)
    }

    /// The eviction of `pod` was refused.
    pub(super) fn refused(&mut self, pod: &PodId, why: String, now: Instant) {
        let entry = self.0.entry(pod.namespace.clone()).or_insert_with(|| Refused {
            wait: Duration::ZERO,
            until: now,
            pods: BTreeMap::new(),
        });
        // Of several refusals in one cycle only the first lengthens the wait.
        if entry.until <= now {
            entry.wait = entry.wait.saturating_mul(2).clamp(FIRST, LONGEST);
            entry.until = now.checked_add(entry.wait).unwrap_or(now);
        }
        entry.pods.insert(pod.uid.clone(), why);
    }

    /// `pod` was evicted or is gone: its namespace's budget lets pods go again.
    pub(super) fn granted(&mut self, pod: &PodId) {
        if let Some(refused) = self.0.get_mut(&pod.namespace) {
            refused.pods.remove(&pod.uid);
            refused.wait = Duration::ZERO;
            if refused.pods.is_empty() {
                self.0.remove(&pod.namespace);
            }
        }
    }

    /// Forgets pods that nobody wants evicted any more.
    pub(super) fn retain(&mut self, wanted: impl Fn(&PodUid) -> bool) {
        self.0.retain(|_, refused| {
            refused.pods.retain(|uid, _| wanted(uid));
            !refused.pods.is_empty()
        });
    }

    /// When the first of the waits that still run ends.
    pub(super) fn next(&self, now: Instant) -> Option<Instant> {
        self.0.values().map(|refused| refused.until).filter(|until| *until > now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(uid: &str) -> PodId {
        PodId { namespace: "a".into(), name: uid.into(), uid: uid.into() }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_double_up_to_a_minute() {
        let mut backoff = Backoff::default();
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..5 {
            backoff.refused(&pod("1"), "budget".to_owned(), now);
            backoff.refused(&pod("2"), "budget".to_owned(), now);
            let next = backoff.next(now).unwrap();
            waits.push(next.duration_since(now).as_secs());
            assert_eq!(backoff.refusal(&pod("1"), now), Some("budget"));
            assert_eq!(backoff.refusal(&pod("1"), next), None);
            now = next;
        }
        assert_eq!(waits, [10, 20, 40, 60, 60]);
    }

    #[tokio::test(start_paused = true)]
    async fn others_of_the_namespace_may_be_asked_for_and_success_resets() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        backoff.refused(&pod("1"), "budget".to_owned(), now);
        assert_eq!(backoff.refusal(&pod("2"), now), None);
        backoff.granted(&pod("1"));
        assert_eq!(backoff.refusal(&pod("1"), now), None);
        assert_eq!(backoff.next(now), None);
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_wants_evicted_is_forgotten() {
        let mut backoff = Backoff::default();
        let now = Instant::now();
        backoff.refused(&pod("1"), "budget".to_owned(), now);
        backoff.retain(|uid| uid.as_str() != "1");
        assert_eq!(backoff.refusal(&pod("1"), now), None);
    }
}
