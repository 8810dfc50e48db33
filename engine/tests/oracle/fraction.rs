//! Exact fractions, small enough to be seen to be right.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

/// A fraction in lowest terms; its denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fraction {
    over: i128,
    under: i128,
}

impl Fraction {
    pub(crate) fn new(over: i128, under: i128) -> Self {
        assert!(under != 0, "nothing is divided by zero");
        let (mut a, mut b) = (over.abs(), under.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let sign = under.signum();
        Self { over: sign * over / a.max(1), under: sign * under / a.max(1) }
    }

    pub(crate) fn whole(number: i128) -> Self {
        Self::new(number, 1)
    }

    pub(crate) fn is_whole(self) -> bool {
        self.under == 1
    }
}

impl Add for Fraction {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.over * other.under + other.over * self.under, self.under * other.under)
    }
}

impl Sub for Fraction {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self + Self::new(-other.over, other.under)
    }
}

impl Mul for Fraction {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::new(self.over * other.over, self.under * other.under)
    }
}

impl Div for Fraction {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        Self::new(self.over * other.under, self.under * other.over)
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.over * other.under).cmp(&(other.over * self.under))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl std::iter::Sum for Fraction {
    fn sum<I: Iterator<Item = Self>>(fractions: I) -> Self {
        fractions.fold(Self::whole(0), Add::add)
    }
}
