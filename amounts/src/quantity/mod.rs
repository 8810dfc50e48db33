//! Quantities as Kubernetes writes them: `1500m`, `9Gi`, `12e6`.
//!
//! Kubernetes itself counts in nano units and knows nothing finer, so one integer of nano units holds every
//! quantity exactly. The rules are those of `resource.ParseQuantity` and its canonical form in
//! `k8s.io/apimachinery`; the few places where these differ are named at [`Quantity`].

mod format;
mod parse;
mod suffixes;
#[cfg(test)]
mod tests;

pub use parse::ParseQuantityError;

/// A Kubernetes quantity: a number of nano units.
///
/// Read one with [`str::parse`], write it with [`binary_text`](Self::binary_text) (memory) or
/// [`decimal_text`](Self::decimal_text) (everything else); both are read back as the same quantity.
/// Compare quantities, never their texts: the API server rewrites `1024Mi` to `1Gi`.
///
/// As in Kubernetes, what is finer than a nano is rounded away from zero (a request for something gets
/// something), texts without a digit such as `Ki` or `.` are zero, and a text with a binary suffix states at
/// most 2^63 − 1 while others have no such bound. Unlike in Kubernetes,
///
/// - more than `i128` holds, 1.7e29 units, is an error; Kubernetes has no bound,
/// - exponents beyond `i32` count as very large or very small; Kubernetes drops their upper bits or refuses them,
/// - all texts without a digit are zero; Kubernetes refuses some of them, such as `Ei` and `e-12`,
/// - multiples of 1e21 print as what they are, `1000E`; Kubernetes loses the exponent there and prints `1`,
/// - beyond 2^63 − 1 there is no binary text, because it would be read back as less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantity(i128);

impl Quantity {
    /// `nano` billionths of the unit.
    pub const fn from_nano(nano: i128) -> Self {
        Self(nano)
    }

    /// The number of billionths of the unit.
    pub const fn nano(self) -> i128 {
        self.0
    }
}
