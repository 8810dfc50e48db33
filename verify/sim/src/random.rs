//! Chance that is always the same for the same seed.

use std::time::Duration;

use quotient_snapshot::stable_hash;

/// A stream of numbers (SplitMix64): small, fast, and good enough to vary delays.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream of its own for `label`: what one part draws changes nothing for the others.
    pub fn of(seed: u64, label: &str) -> Self {
        let mut random = Self(seed ^ stable_hash(label.bytes()));
        Self(random.next())
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next().checked_rem(bound).unwrap_or_default()
    }

    /// A time within `range`.
    pub fn lag(&mut self, range: Lag) -> Duration {
        let span = range.most.saturating_sub(range.least);
        Duration::from_millis(range.least + self.below(span + 1))
    }
}

/// How long something takes: anything between two numbers of milliseconds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

impl Lag {
    /// Between `least` and `most` milliseconds.
    pub const fn new(least: u64, most: u64) -> Self {
        Self { least, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_stream_and_labels_are_independent() {
        let draw = |mut random: Random| (0..4).map(|_| random.next()).collect::<Vec<_>>();
        assert_eq!(draw(Random::of(1, "a")), draw(Random::of(1, "a")));
        assert_ne!(draw(Random::of(1, "a")), draw(Random::of(1, "b")));
        assert_ne!(draw(Random::of(1, "a")), draw(Random::of(2, "a")));
    }

    #[test]
    fn lags_keep_their_bounds() {
        let mut random = Random::new(7);
        let lags: Vec<u128> = (0..200).map(|_| random.lag(Lag::new(2, 4)).as_millis()).collect();
        assert_eq!((lags.iter().min(), lags.iter().max()), (Some(&2), Some(&4)));
        assert_eq!(random.lag(Lag::new(3, 3)).as_millis(), 3);
    }
}
