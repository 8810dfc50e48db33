//! When the next cycle may start.

use std::time::Duration;

/// Lets the first change after a quiet time through at once and bundles what follows.
///
/// All times are on one local clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Debounce {
    interval: Duration,
    last: Option<Duration>,
}

impl Debounce {
    /// Lets a cycle start at most every `interval`.
    pub(super) const fn new(interval: Duration) -> Self {
        Self { interval, last: None }
    }

    /// When the next cycle may start: never in the past, and `now` after a quiet time.
    pub(super) fn earliest(&self, now: Duration) -> Duration {
        self.last.map_or(now, |last| last.saturating_add(self.interval).max(now))
    }

    /// A cycle starts.
    pub(super) const fn started(&mut self, now: Duration) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The starts of cycles, in milliseconds, for changes at these times when a cycle takes no time.
    fn starts(changes: &[u64]) -> Vec<u64> {
        let mut debounce = Debounce::new(Duration::from_millis(50));
        let mut starts: Vec<u64> = Vec::new();
        for change in changes {
            if starts.last().is_some_and(|start| start >= change) {
                continue;
            }
            let start = debounce.earliest(Duration::from_millis(*change));
            debounce.started(start);
            starts.push(u64::try_from(start.as_millis()).unwrap());
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
}
