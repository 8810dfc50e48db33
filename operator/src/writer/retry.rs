//! How long a write that failed is put off.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

/// The wait after a second failure in a row; the first is retried at once, for what was read anew may settle it.
const FIRST: Duration = Duration::from_millis(250);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(60);

/// Failures in a row, by what was written.
#[derive(Debug)]
pub(crate) struct Retries<K>(BTreeMap<K, Failing>);

#[derive(Debug)]
struct Failing {
    wait: Duration,
    until: Instant,
    why: String,
    /// Whether the API server decided against the write, rather than not having been reached.
    refused: bool,
}

impl<K: Ord + Clone> Retries<K> {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Whether the write of `key` is to be put off now.
    pub(crate) fn is_waiting(&self, key: &K, now: Instant) -> bool {
        self.0.get(key).is_some_and(|failing| now < failing.until)
    }

    /// When the write of `key` may be tried again, if it failed.
    pub(crate) fn until(&self, key: &K) -> Option<Instant> {
        self.0.get(key).map(|failing| failing.until)
    }

    /// The write of `key` failed, once more or for the first time.
    pub(crate) fn failed(&mut self, key: &K, why: String, refused: bool, now: Instant) {
        let wait = match self.0.get(key) {
            None => Duration::ZERO,
            Some(failing) => failing.wait.saturating_mul(2).clamp(FIRST, LONGEST),
        };
        let until = now.checked_add(wait).unwrap_or(now);
        self.0.insert(key.clone(), Failing { wait, until, why, refused });
    }

    /// The write of `key` succeeded or is no longer wanted.
    pub(crate) fn clear(&mut self, key: &K) {
        self.0.remove(key);
    }

    /// Forgets what is no longer wanted.
    pub(crate) fn retain(&mut self, wanted: impl Fn(&K) -> bool) {
        self.0.retain(|key, _| wanted(key));
    }

    /// What was refused more than once in a row, and why.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&K, &str)> {
        self.0
            .iter()
            .filter(|(_, failing)| failing.refused && !failing.wait.is_zero())
            .map(|(key, failing)| (key, failing.why.as_str()))
    }

    /// When the first wait ends.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.values().map(|failing| failing.until).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_failure_is_retried_at_once_and_then_ever_later() {
        let mut retries = Retries::new();
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..12 {
            retries.failed(&"a", "no".to_owned(), true, now);
            let next = retries.next().unwrap();
            assert_eq!(retries.is_waiting(&"a", now), next > now);
            waits.push(next.duration_since(now).as_millis());
            now = next;
        }
        assert_eq!(waits[..4], [0, 250, 500, 1000]);
        assert_eq!(waits[11], 60_000);
        assert_eq!(retries.refused().collect::<Vec<_>>(), [(&"a", "no")]);
        retries.clear(&"a");
        assert_eq!(retries.next(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn one_refusal_is_no_news() {
        let mut retries = Retries::new();
        retries.failed(&"a", "stale".to_owned(), true, Instant::now());
        assert_eq!(retries.refused().count(), 0);
    }
}
