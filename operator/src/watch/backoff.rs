//! How long a failing watch waits before it is tried again.

use std::time::Duration;

use kube::runtime::utils::Backoff;
use quotient_engine::stable_hash;

/// The wait after the first failure.
const FIRST: Duration = Duration::from_millis(800);

/// The longest wait, before what spreads replicas and kinds.
const LONGEST: Duration = Duration::from_secs(30);

/// Doubling waits, each up to twice as long so that not all watches of all replicas come back at once.
///
/// What kube's own backoff draws by chance comes from the names of the replica and the kind: the same failures give the same
/// waits.
#[derive(Clone, Debug)]
pub(super) struct WatchBackoff {
    wait: Duration,
    state: u64,
}

impl WatchBackoff {
    /// Of the watch of `kind` of the replica `identity`.
    pub(super) fn of(identity: &str, kind: &str) -> Self {
        let bytes = identity.bytes().chain([0]).chain(kind.bytes());
        Self { wait: FIRST, state: stable_hash(bytes) }
    }

    /// Between nothing and `most`.
    fn spread(&mut self, most: Duration) -> Duration {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let millis = u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1);
        Duration::from_millis((self.state >> 33).checked_rem(millis).unwrap_or_default())
    }
}

impl Iterator for WatchBackoff {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        let wait = self.wait;
        self.wait = wait.saturating_mul(2).min(LONGEST);
        Some(wait.saturating_add(self.spread(wait)))
    }
}

impl Backoff for WatchBackoff {
    fn reset(&mut self) {
        self.wait = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(backoff: &mut WatchBackoff, count: usize) -> Vec<f64> {
        backoff.take(count).map(|wait| wait.as_secs_f64()).collect()
    }

    #[test]
    fn waits_double_within_bounds_and_begin_anew_after_a_success() {
        let mut backoff = WatchBackoff::of("host_1", "pods");
        let waits = seconds(&mut backoff, 9);
        for (number, wait) in waits.iter().enumerate() {
            let least = (0.8 * f64::from(1 << number)).min(30.0);
            assert!((least..2.0 * least).contains(wait), "{waits:?}");
        }
        backoff.reset();
        assert!(seconds(&mut backoff, 1)[0] < 1.6);
    }

    #[test]
    fn the_same_name_waits_the_same_and_others_differ() {
        let waits = |identity, kind| seconds(&mut WatchBackoff::of(identity, kind), 4);
        assert_eq!(waits("a", "pods"), waits("a", "pods"));
        assert_ne!(waits("a", "pods"), waits("b", "pods"));
        assert_ne!(waits("a", "pods"), waits("a", "nodes"));
    }
}
