//! How long an operation that failed is put off.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The waits after failures in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Whether the first failure is retried at once, because what was read anew may settle it.
    at_once: bool,
    /// The first wait. Each further one is twice as long.
    first: Duration,
    /// The longest wait.
    longest: Duration,
}

impl Schedule {
    /// The schedule of everything that is written.
    pub(crate) const WRITES: Self =
        Self { at_once: true, first: Duration::from_millis(250), longest: Duration::from_secs(60) };

    /// The schedule of evictions that are refused: budgets and webhooks change in seconds rather than milliseconds, and another
    /// pod is evicted meanwhile.
    pub(crate) const EVICTIONS: Self =
        Self { at_once: false, first: Duration::from_secs(10), longest: Duration::from_secs(60) };

    /// The wait after one more failure, the `former` wait being over; none before the first failure.
    fn next(self, former: Option<Duration>) -> Duration {
        match former {
            None if self.at_once => Duration::ZERO,
            former => former.unwrap_or_default().saturating_mul(2).clamp(self.first, self.longest),
        }
    }
}

/// Failures in a row, by what was written.
#[derive(Debug)]
pub(crate) struct Backoff<K> {
    schedule: Schedule,
    failing: BTreeMap<K, Failing>,
}

#[derive(Debug)]
struct Failing {
    wait: Duration,
    until: Instant,
    why: String,
    /// Whether the API server decided against the write, rather than not having been reached.
    refused: bool,
    /// Whether the write succeeded since.
    settled: bool,
}

impl<K: Ord + Clone> Backoff<K> {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self { schedule, failing: BTreeMap::new() }
    }

    /// Whether the write of `key` is to be put off now.
    pub(crate) fn is_waiting(&self, key: &K, now: Instant) -> bool {
        self.failing.get(key).is_some_and(|failing| now < failing.until)
    }

    /// When the write of `key` may be tried again, if it failed.
    pub(crate) fn until(&self, key: &K) -> Option<Instant> {
        self.failing.get(key).filter(|failing| !failing.settled).map(|failing| failing.until)
    }

    /// The write of `key` failed, once more or for the first time. Says whether it is refused more than once in a row, and was
    /// not for the same reason before.
    pub(crate) fn failed(&mut self, key: &K, why: String, refused: bool, now: Instant) -> bool {
        let is_over = |failing: &&Failing| failing.settled && failing.is_old(now, self.schedule.longest);
        let former = self.failing.get(key).filter(|failing| !is_over(failing));
        let wait = self.schedule.next(former.map(|failing| failing.wait));
        let until = now.checked_add(wait).unwrap_or(now);
        let failing = Failing { wait, until, why, refused, settled: false };
        let is_news = failing.is_refused() && self.refusal(key) != Some(failing.why.as_str());
        self.failing.insert(key.clone(), failing);
        is_news
    }

    /// The write of `key` succeeded. A failure within the longest wait is one more in a row, so that two writers that undo each
    /// other's work slow down.
    pub(crate) fn settle(&mut self, key: &K) {
        if let Some(failing) = self.failing.get_mut(key) {
            failing.settled = true;
        }
    }

    /// The write of `key` succeeded or is no longer wanted.
    pub(crate) fn clear(&mut self, key: &K) {
        self.failing.remove(key);
    }

    /// Forgets what is no longer wanted.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.failing.retain(|key, _| wanted(key));
    }

    /// The next wait of those that are `eased` is a first one again.
    pub(crate) fn restart(&mut self, eased: impl Fn(&K) -> bool) {
        let eased = self.failing.iter_mut().filter(|(key, _)| eased(key));
        eased.for_each(|(_, failing)| failing.wait = Duration::ZERO);
    }

    /// Forgets failures whose wait has been over for as long as the longest wait.
    pub(crate) fn forget_old(&mut self, now: Instant) {
        let longest = self.schedule.longest;
        self.failing.retain(|_, failing| !failing.is_old(now, longest));
    }

    /// All that failed: why, and until when it is put off.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&K, &str, Instant)> {
        self.failing.iter().map(|(key, failing)| (key, failing.why.as_str(), failing.until))
    }

    /// What was refused more than once in a row, and why.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&K, &str)> {
        self.failing
            .iter()
            .filter(|(_, failing)| failing.is_refused())
            .map(|(key, failing)| (key, failing.why.as_str()))
    }

    /// Why the write of `key` was refused, if it was more than once in a row.
    pub(crate) fn refusal(&self, key: &K) -> Option<&str> {
        self.failing.get(key).filter(|failing| failing.is_refused()).map(|failing| failing.why.as_str())
    }

    /// When the first wait ends.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.failing.values().filter(|failing| !failing.settled).map(|failing| failing.until).min()
    }
}

impl Failing {
    /// One refusal is what a race looks like.
    const fn is_refused(&self) -> bool {
        self.refused && !self.settled && !self.wait.is_zero()
    }

    /// Whether its wait has been over for as long as the `longest` wait.
    fn is_old(&self, now: Instant, longest: Duration) -> bool {
        self.until.checked_add(longest).is_none_or(|old| old <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_failure_is_retried_at_once_and_then_ever_later() {
        let mut backoff = Backoff::new(Schedule::WRITES);
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..12 {
            backoff.failed(&"a", "no".to_owned(), true, now);
            let next = backoff.next().unwrap();
            assert_eq!(backoff.is_waiting(&"a", now), next > now);
            waits.push(next.duration_since(now).as_millis());
            now = next;
        }
        assert_eq!(waits[..4], [0, 250, 500, 1000]);
        assert_eq!(waits[11], 60_000);
        assert_eq!(backoff.refused().collect::<Vec<_>>(), [(&"a", "no")]);
        backoff.clear(&"a");
        assert_eq!(backoff.next(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn writers_that_undo_each_others_work_slow_down() {
        let mut backoff = Backoff::new(Schedule::WRITES);
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..5 {
            backoff.failed(&"a", "conflict".to_owned(), true, now);
            waits.push(backoff.next().unwrap().duration_since(now).as_millis());
            backoff.settle(&"a");
            assert_eq!((backoff.next(), backoff.refused().count()), (None, 0));
            now += Duration::from_secs(3);
        }
        assert_eq!(waits, [0, 250, 500, 1000, 2000]);
        now += Duration::from_secs(61);
        backoff.failed(&"a", "conflict".to_owned(), true, now);
        assert_eq!(backoff.next(), Some(now), "it was settled for longer than the longest wait");
    }

    #[tokio::test(start_paused = true)]
    async fn one_refusal_is_no_news() {
        let mut backoff = Backoff::new(Schedule::WRITES);
        backoff.failed(&"a", "stale".to_owned(), true, Instant::now());
        assert_eq!(backoff.refused().count(), 0);
    }
}
