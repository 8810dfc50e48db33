//! Instants as the API objects carry them; the engine never reads a clock.

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant this many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The instant this many seconds after the epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this instant; zero if `earlier` is the later one.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        let difference = self.0.saturating_sub(earlier.0);
        if difference < 0 { 0 } else { difference }
    }

    /// The instant `seconds` later.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }
}
