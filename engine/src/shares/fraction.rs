//! Fractions, compared exactly.

use std::cmp::Ordering;

/// A part of a whole; one of nothing is as large as can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction {
    pub(crate) part: i128,
    pub(crate) whole: i128,
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.whole > 0, other.whole > 0) {
            // As a rule, and twice as fast.
            (true, true) if self.whole == other.whole => self.part.cmp(&other.part),
            (true, true) => self.part.saturating_mul(other.whole).cmp(&other.part.saturating_mul(self.whole)),
            (mine, theirs) => theirs.cmp(&mine),
        }
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}
