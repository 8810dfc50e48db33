//! How often the ledger was written, which is what quotas are stamped with.

use std::fmt;

/// A generation of the ledger; every write of it is the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(u64);

/// The latest stamp that a quota alone may claim. Whatever it claims, as many generations are left after it.
const MOST: u64 = 1 << 62;

/// The latest stamp that can be read: generations of a ledger that goes on after a quota that claimed [`MOST`].
const READABLE: u64 = 1 << 63;

impl Generation {
    /// The generation with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The generation that a quota's annotation names; none if it names none from 1 to [`READABLE`]. The first write of a ledger
    /// is generation 1, so no quota was ever stamped with 0.
    pub fn from_stamp(text: &str) -> Option<Self> {
        let stamp = Self(text.parse().ok().filter(|number| (1..=READABLE).contains(number))?);
        // A write tests the text, not what it means.
        (stamp.to_string() == text).then_some(stamp)
    }

    /// Whether a quota may bear it as its stamp: up to [`MOST`], and beyond that as far as the `ledger` has counted.
    ///
    /// An account that may write quotas can claim any stamp, and the ledger goes on after the latest. Without a bound on what it
    /// goes on after, a ledger could leave what it can read, and write every quota again and again.
    pub fn is_credible(self, ledger: Option<Self>) -> bool {
        self.0 <= MOST || ledger.is_some_and(|ledger| self <= ledger)
    }

    /// Its number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// One that is so much later.
    #[must_use]
    pub(super) const fn beyond(self, by: u64) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// The number, as quotas are stamped with it.
impl fmt::Display for Generation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
