//! Fractions, compared exactly.

use std::cmp::Ordering;

/// A part of a whole; one of nothing is as large as can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fraction {
    pub(crate) part: i128,
    pub(crate) whole: i128,
}

impl Fraction {
    /// Nothing of something.
    pub(crate) const NOTHING: Self = Self { part: 0, whole: 1 };
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.whole > 0, other.whole > 0) {
            // As a rule, and twice as fast.
            (true, true) if self.whole == other.whole => self.part.cmp(&other.part),
            (true, true) => {
                let times = |part, whole| small(part)?.checked_mul(small(whole)?);
                match (times(self.part, other.whole), times(other.part, self.whole)) {
                    (Some(mine), Some(theirs)) => mine.cmp(&theirs),
                    _ => self.part.saturating_mul(other.whole).cmp(&other.part.saturating_mul(self.whole)),
                }
            }
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

/// `number` where it is so small that machines multiply and divide it quickly, as nearly all are.
pub(super) fn small(number: i128) -> Option<i64> {
    i64::try_from(number).ok()
}
