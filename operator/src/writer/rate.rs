//! A limit on how often something happens.

use std::time::Duration;

use tokio::time::Instant;

/// How much of a second's worth may come at once.
const BURST: Duration = Duration::from_millis(40);

/// Spreads events evenly: at most so many in a second, with a small burst.
///
/// Small preemptions are thus never slowed down, and a large one reaches the API server as a stream over few
/// connections. All at once would open as many connections as there are calls, and the first answer would come
/// after the last handshake.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    gap: Duration,
    burst: Duration,
    /// When the next event would be due if events had always come evenly.
    next: Option<Instant>,
}

impl Rate {
    pub(super) fn per_second(count: u32) -> Self {
        let gap = Duration::from_secs(1).checked_div(count).unwrap_or(Duration::from_secs(1));
        Self { gap, burst: BURST.max(gap), next: None }
    }

    /// When the next event may happen; it is counted as happening then.
    pub(super) fn reserve(&mut self, now: Instant) -> Instant {
        let oldest = now.checked_sub(self.burst).unwrap_or(now);
        let due = self.next.map_or(oldest, |next| next.max(oldest));
        self.next = due.checked_add(self.gap);
        due.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_then_even_steps_and_a_burst_after_every_quiet_time() {
        let mut rate = Rate::per_second(100);
        for quiet in [0, 10] {
            let now = Instant::now() + Duration::from_secs(quiet);
            let times: Vec<u128> =
                (0..14).map(|_| rate.reserve(now).duration_since(now).as_millis()).collect();
            assert_eq!(times, [0, 0, 0, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_rate_lets_the_first_one_through() {
        let mut rate = Rate::per_second(1);
        let now = Instant::now();
        let times: Vec<u64> = (0..4).map(|_| rate.reserve(now).duration_since(now).as_secs()).collect();
        assert_eq!(times, [0, 0, 1, 2]);
    }
}
