//! One amount.

use std::ops::{Add, Sub};

use serde_json::Value;

use super::quantity;

/// An exact amount, in billionths of the unit of its resource. Kubernetes counts nothing finer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(i128);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many billionths.
    pub const fn from_nano(nano: i128) -> Self {
        Self(nano)
    }

    /// The amount that a quantity states, such as `1500m` or `9Gi`; none if the text is no quantity.
    pub fn from_text(text: &str) -> Option<Self> {
        quantity::nano(text).map(Self)
    }

    /// The same of a quantity in an object, which may be a text or a number.
    pub fn from_value(value: &Value) -> Option<Self> {
        value.as_str().map_or_else(|| Self::from_text(&value.to_string()), Self::from_text)
    }

    /// The number of billionths.
    pub const fn nano(self) -> i128 {
        self.0
    }

    /// Whether it is more than nothing.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// This minus `other`, or nothing if that is negative.
    pub fn less(self, other: Self) -> Self {
        (self - other).max(Self::ZERO)
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
