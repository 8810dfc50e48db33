//! Simulated time: tokio's paused clock, and the date that it stands for.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// The date on which every simulation begins: 2030-01-01T00:00:00Z.
const BEGINNING: i64 = 1_893_456_000;

/// The time since the simulation began. Copies show the same.
#[derive(Clone, Copy, Debug)]
pub struct SimClock(Instant);

impl SimClock {
    /// A simulation that begins now. To be called where tokio's time is paused.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long the simulation has lasted.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }

    /// The same in milliseconds, which is as fine as tokio's timers are.
    pub fn millis(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).expect("no simulation lasts for half a billion years")
    }

    /// When it will have lasted for `elapsed`.
    pub fn at(self, elapsed: Duration) -> Instant {
        self.0 + elapsed
    }

    /// The date.
    pub fn now(self) -> Timestamp {
        Self::date(self.elapsed())
    }

    /// The date after so much time.
    pub fn date(elapsed: Duration) -> Timestamp {
        let beginning = Timestamp::from_second(BEGINNING).expect("a date within range");
        beginning.checked_add(elapsed).expect("no simulation lasts that long")
    }
}
