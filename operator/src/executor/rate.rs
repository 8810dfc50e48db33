//! A limit on how often something happens.

use std::time::Duration;

use tokio::time::Instant;

/// How much of a second's worth may come at once: as much as a cycle takes for all that it does beside evicting, so that
/// this is made up for.
const BURST: Duration = Duration::from_millis(200);

const MINUTE: Duration = Duration::from_secs(60);

/// Spreads events evenly: at most so many in a second, with a small burst.
///
/// Small preemptions are thus never slowed down, and a large one reaches the API server as a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    gap: Duration,
    burst: Duration,
    /// When the next event would be due if events had always come evenly.
    next: Option<Instant>,
}

impl Rate {
    pub(crate) fn per_second(count: u32) -> Self {
        let gap = Duration::from_secs(1).checked_div(count).unwrap_or(Duration::from_secs(1));
        Self { gap, burst: BURST.max(gap), next: None }
    }

    /// At most `count` in a burst, and then as many in each minute.
    pub(crate) fn per_minute(count: u32) -> Self {
        let gap = MINUTE.checked_div(count).unwrap_or(MINUTE);
        Self { gap, burst: MINUTE.saturating_sub(gap), next: None }
    }

    /// When the next event may happen. It is not counted.
    pub(crate) fn next(&self, now: Instant) -> Instant {
        self.next.map_or(now, |next| next.max(now))
    }

    /// Whether as many may happen at once again as at the beginning.
    pub(crate) fn is_rested(&self, now: Instant) -> bool {
        let rested = self.next.and_then(|next| next.checked_add(self.burst));
        rested.is_none_or(|rested| rested <= now)
    }

    /// When the next event may happen; it is counted as happening then.
    pub(crate) fn reserve(&mut self, now: Instant) -> Instant {
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
        let mut rate = Rate::per_second(20);
        for quiet in [0, 10] {
            let now = Instant::now() + Duration::from_secs(quiet);
            let times: Vec<u128> =
                (0..8).map(|_| rate.reserve(now).duration_since(now).as_millis()).collect();
            assert_eq!(times, [0, 0, 0, 0, 0, 50, 100, 150]);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_at_once_and_as_many_more_a_minute() {
        let mut rate = Rate::per_minute(4);
        let now = Instant::now();
        let times: Vec<u64> = (0..6).map(|_| rate.reserve(now).duration_since(now).as_secs()).collect();
        assert_eq!(times, [0, 0, 0, 0, 15, 30]);
        assert_eq!(rate.next(now), now + Duration::from_secs(45));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_rate_lets_the_first_one_through() {
        let mut rate = Rate::per_second(1);
        let now = Instant::now();
        let times: Vec<u64> = (0..4).map(|_| rate.reserve(now).duration_since(now).as_secs()).collect();
        assert_eq!(times, [0, 0, 1, 2]);
    }
}
