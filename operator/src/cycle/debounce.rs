//! When the next cycle may start.

use std::time::Duration;

use tokio::time::Instant;

/// While changes come and none of them matters, deciding takes at most one part in so many of a core …
const PAUSE_FACTOR: u32 = 10;

/// … and a change that does matter waits no longer than this.
const LONGEST: Duration = Duration::from_millis(250);

/// Lets the first change after a quiet time through at once and bundles what follows: the more, the longer a decision takes
/// of which nothing came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debounce {
    interval: Duration,
    last: Option<Instant>,
    pause: Duration,
}

impl Debounce {
    /// Lets a cycle start at most every `interval`.
    pub(super) const fn new(interval: Duration) -> Self {
        Self { interval, last: None, pause: interval }
    }

    /// When the next cycle may start: never in the past, and `now` after a quiet time.
    pub(super) fn earliest(&self, now: Instant) -> Instant {
        let rested = self.last.and_then(|last| last.checked_add(self.pause));
        rested.map_or(now, |rested| rested.max(now))
    }

    /// A cycle starts.
    pub(super) const fn started(&mut self, now: Instant) {
        self.last = Some(now);
        self.pause = self.interval;
    }

    /// The cycle ends: deciding that nothing is to be done took so long.
    pub(super) fn was_in_vain(&mut self, took: Duration) {
        self.pause = took.saturating_mul(PAUSE_FACTOR).min(LONGEST).max(self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts of cycles, in milliseconds, for changes at these times when a cycle has something to do and takes no time.
    fn starts(changes: &[u64]) -> Vec<u64> {
        starts_in_vain(changes, None)
    }

    /// The same where nothing comes of a cycle, which takes so many milliseconds.
    fn starts_in_vain(changes: &[u64], took: Option<u64>) -> Vec<u64> {
        let mut debounce = Debounce::new(Duration::from_millis(50));
        let begin = Instant::now();
        let mut starts: Vec<u64> = Vec::new();
        for change in changes {
            if starts.last().is_some_and(|start| start >= change) {
                continue;
            }
            let start = debounce.earliest(begin + Duration::from_millis(*change));
            debounce.started(start);
            if let Some(millis) = took {
                debounce.was_in_vain(Duration::from_millis(millis));
            }
            starts.push(u64::try_from(start.duration_since(begin).as_millis()).unwrap());
        }
        starts
    }

    #[test]
    fn the_first_change_goes_through_at_once() {
        assert_eq!(starts(&[0]), [0]);
        assert_eq!(starts(&[7, 1000]), [7, 1000]);
    }

    #[test]
    fn a_burst_is_bundled() {
        assert_eq!(starts(&[0, 1, 2, 3]), [0, 50]);
        assert_eq!(starts(&[0, 10, 50, 51, 99, 100, 101]), [0, 50, 100, 150]);
    }

    #[test]
    fn changes_of_which_nothing_comes_are_bundled_the_longer_the_more_they_cost() {
        let changes = [0, 10, 60, 110, 210, 400, 900];
        assert_eq!(starts_in_vain(&changes, Some(1)), [0, 50, 100, 150, 210, 400, 900]);
        assert_eq!(starts_in_vain(&changes, Some(20)), [0, 200, 400, 900]);
        assert_eq!(starts_in_vain(&changes, Some(1000)), [0, 250, 500, 900], "at most a quarter of a second");
    }

    #[test]
    fn a_cycle_that_has_something_to_do_is_followed_soon() {
        let mut debounce = Debounce::new(Duration::from_millis(50));
        let begin = Instant::now();
        let after = |millis| begin + Duration::from_millis(millis);
        debounce.started(begin);
        debounce.was_in_vain(Duration::from_millis(20));
        debounce.started(after(200));
        assert_eq!(debounce.earliest(after(210)), after(250));
    }
}
