//! Reading quantities.

use std::num::IntErrorKind;
use std::str::FromStr;

use super::Quantity;
use super::suffixes::{BINARY, BINARY_MOST, DECIMAL, NANO_IN_ONE};

/// Why a text is no quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseQuantityError {
    /// There is no text.
    #[error("read quantity: it is empty; a quantity looks like 2, 1500m or 9Gi")]
    Empty,
    /// The text does not begin with a number.
    #[error("read quantity {text:?}: it does not begin with a number; a quantity looks like 2, 1500m or 9Gi")]
    NotANumber {
        /// The whole text.
        text: String,
    },
    /// What follows the number is no suffix of quantities. Case matters.
    #[error(
        "read quantity {text:?}: {suffix:?} is no suffix; those that exist are \
         n u m k M G T P E, Ki Mi Gi Ti Pi Ei and exponents such as e3"
    )]
    UnknownSuffix {
        /// The whole text.
        text: String,
        /// What follows the number.
        suffix: String,
    },
    /// The quantity is beyond what is counted.
    #[error("read quantity {text:?}: it is beyond 1.7e29, the largest quantity that can be counted")]
    TooLarge {
        /// The whole text.
        text: String,
    },
}

/// Reads the text as it stands: whitespace around it is an error, as it is to Kubernetes outside of JSON.
impl FromStr for Quantity {
    type Err = ParseQuantityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(ParseQuantityError::Empty);
        }
        let (negative, unsigned) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (number, rest) = Number::split_from(unsigned);
        let suffix = Suffix::from_text(rest).ok_or_else(|| {
            if number.is_empty() {
                ParseQuantityError::NotANumber { text: text.to_owned() }
            } else {
                ParseQuantityError::UnknownSuffix { text: text.to_owned(), suffix: rest.to_owned() }
            }
        })?;
        suffix
            .apply(&number)
            .and_then(
                |nano| if negative { 0_i128.checked_sub_unsigned(nano) } else { i128::try_from(nano).ok() },
            )
            .map(Self::from_nano)
            .ok_or_else(|| ParseQuantityError::TooLarge { text: text.to_owned() })
    }
}

/// The digits of an unsigned decimal number, before and after its point.
struct Number<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Number<'a> {
    /// The number that `text` begins with, and what follows it.
    fn split_from(text: &'a str) -> (Self, &'a str) {
        let (whole, rest) = split_digits(text);
        let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        (Self { whole, fraction }, rest)
    }

    fn is_empty(&self) -> bool {
        self.whole.is_empty() && self.fraction.is_empty()
    }

    /// This number times `10^exponent`, in nano units where one is `unit` nano units; rounded up.
    ///
    /// `unit` is at most that of `Ei`, so that ten times it is far from the end of `u128`. Nothing if the
    /// result is beyond `u128`. Takes time for each digit, whatever the exponent says.
    fn times(&self, unit: u128, exponent: i32) -> Option<u128> {
        let digits: Vec<u128> = self.digits().collect();
        let Some(first) = digits.iter().position(|digit| *digit != 0) else { return Some(0) };
        let point = i64::try_from(self.whole.len()).ok()?.checked_add(i64::from(exponent))?;
        let whole_digits = usize::try_from(point.max(0)).ok()?;

        let mut whole: u128 = 0;
        let padded = digits.iter().copied().chain(std::iter::repeat(0));
        for digit in padded.take(whole_digits).skip(first) {
            whole = whole.checked_mul(10)?.checked_add(digit)?;
        }

        let zeros_before_fraction = point.min(0).unsigned_abs();
        let fraction = digits.get(whole_digits..).unwrap_or_default();
        whole.checked_mul(unit)?.checked_add(fraction_of(unit, zeros_before_fraction, fraction)?)
    }

    fn digits(&self) -> impl Iterator<Item = u128> {
        self.whole.chars().chain(self.fraction.chars()).filter_map(|digit| digit.to_digit(10)).map(u128::from)
    }
}

/// The fraction `0.<zeros><digits>` of `unit`, rounded up.
///
/// From the last digit to the first, each step keeps the whole part of (digit · unit + step before) / 10.
/// Nothing is lost by that: a tenth of a sum is whole only if the sum is, so the result is exact if and only
/// if no step had a rest.
fn fraction_of(unit: u128, zeros: u64, digits: &[u128]) -> Option<u128> {
    let mut part: u128 = 0;
    let mut exact = true;
    let mut shift = |digit: u128| {
        let sum = unit.checked_mul(digit)?.checked_add(part)?;
        part = sum / 10;
        exact &= sum.is_multiple_of(10);
        Some(part)
    };
    for digit in digits.iter().rev() {
        shift(*digit)?;
    }
    for _ in 0..zeros {
        if shift(0)? == 0 {
            break;
        }
    }
    part.checked_add(u128::from(!exact))
}

/// What follows the number of a quantity.
enum Suffix {
    /// So many nano units for each.
    Decimal(u128),
    /// So many nano units for each, and a bound.
    Binary(u128),
    /// A power of ten.
    Exponent(i32),
}

impl Suffix {
    fn from_text(text: &str) -> Option<Self> {
        let in_table =
            |table: &[(&str, u128)]| table.iter().find(|(suffix, _)| *suffix == text).map(|row| row.1);
        in_table(&DECIMAL)
            .map(Self::Decimal)
            .or_else(|| in_table(&BINARY).map(Self::Binary))
            .or_else(|| text.strip_prefix(['e', 'E']).and_then(exponent).map(Self::Exponent))
    }

    /// `number` with this suffix in nano units, unless that is beyond `u128`.
    fn apply(&self, number: &Number<'_>) -> Option<u128> {
        match self {
            Self::Decimal(unit) => number.times(*unit, 0),
            Self::Binary(unit) => {
                Some(number.times(*unit, 0).map_or(BINARY_MOST, |nano| nano.min(BINARY_MOST)))
            }
            Self::Exponent(power) => number.times(NANO_IN_ONE, *power),
        }
    }
}

/// A signed whole number; what is beyond `i32` is as far out as that for any quantity.
fn exponent(text: &str) -> Option<i32> {
    text.parse().map_or_else(
        |error: std::num::ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => Some(i32::MAX),
            IntErrorKind::NegOverflow => Some(i32::MIN),
            _ => None,
        },
        Some,
    )
}

/// The ASCII digits that `text` begins with, and the rest.
fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len()))
}
