//! One amount of one resource.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// An exact amount in the unit of its resource: milli-cpu, bytes, whole devices.
///
/// Arithmetic saturates at the ends of `i128`. Nothing that a cluster can state comes near them
/// (2^63 bytes on 2^40 nodes is 2^103), so saturation only keeps absurd input from becoming a panic.
/// An amount may be negative where it is a difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Amount(i128);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// More than anything that can be stated.
    pub const MAX: Self = Self(i128::MAX);

    /// `units` of the resource's unit.
    pub const fn new(units: i128) -> Self {
        Self(units)
    }

    /// The number of units.
    pub const fn units(self) -> i128 {
        self.0
    }

    /// Whether this is more than nothing.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// Whether this is nothing.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// This amount, or nothing if it is negative.
    pub const fn or_zero(self) -> Self {
        if self.0 < 0 { Self::ZERO } else { self }
    }

    /// This minus `other`, or nothing if that is negative.
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0)).or_zero()
    }

    /// This `count` times.
    pub fn times(self, count: impl Into<i128>) -> Self {
        Self(self.0.saturating_mul(count.into()))
    }
}

impl Add for Amount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Amount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Amount {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}
