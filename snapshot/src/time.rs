//! Instants as the API objects carry them; the engine never reads a clock.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
///
/// Kept with the sign bit turned round, which preserves the order and leaves one value free: an
/// `Option<Timestamp>` takes 8 bytes, and every pod has two. The price is the very first millisecond, which reads
/// as the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(NonZeroU64);

const SIGN: u64 = 1 << 63;

impl Timestamp {
    /// The instant this many milliseconds after the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        match NonZeroU64::new(millis.cast_unsigned() ^ SIGN) {
            Some(turned) => Self(turned),
            None => Self(NonZeroU64::MIN),
        }
    }

    /// The instant this many seconds after the epoch.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self::from_millis(seconds.saturating_mul(1000))
    }

    /// Milliseconds since the epoch.
    pub const fn millis(self) -> i64 {
        (self.0.get() ^ SIGN).cast_signed()
    }

    /// Milliseconds from `earlier` to this instant; zero if `earlier` is the later one.
    pub const fn millis_since(self, earlier: Self) -> i64 {
        let difference = self.millis().saturating_sub(earlier.millis());
        if difference < 0 { 0 } else { difference }
    }

    /// The instant `seconds` later.
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_millis(self.millis().saturating_add(seconds.saturating_mul(1000)))
    }
}

/// The epoch.
impl Default for Timestamp {
    fn default() -> Self {
        Self::from_millis(0)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Timestamp").field(&self.millis()).finish()
    }
}

/// The earlier of two instants, if there is any.
pub fn earliest(one: Option<Timestamp>, other: Option<Timestamp>) -> Option<Timestamp> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_but_the_first_is_kept_and_in_order() {
        let millis = [i64::MIN + 1, -1, 0, 1, i64::MAX];
        let instants = millis.map(Timestamp::from_millis);
        assert_eq!(instants.map(Timestamp::millis), millis);
        assert!(instants.is_sorted());
        assert_eq!(Timestamp::from_millis(i64::MIN), instants[0]);
        assert_eq!(size_of::<Option<Timestamp>>(), 8);
    }
}
