//! The canonical texts of quantities.

use super::Quantity;
use super::suffixes::{BINARY, BINARY_MOST, DECIMAL, NANO_IN_ONE};

impl Quantity {
    /// The canonical text of an amount of bytes: a whole number with the largest binary suffix, such as `1536Mi`.
    ///
    /// What is below 1024, fractional or beyond 2^63 − 1 is printed as [`decimal_text`](Self::decimal_text).
    pub fn binary_text(self) -> String {
        let magnitude = self.0.unsigned_abs();
        let small = magnitude < NANO_IN_ONE << 10;
        let fractional = !magnitude.is_multiple_of(NANO_IN_ONE);
        if small || fractional || magnitude > BINARY_MOST {
            return self.decimal_text();
        }
        whole(self.0, &BINARY).or_else(|| whole(self.0, &[("", NANO_IN_ONE)])).unwrap_or_default()
    }

    /// The canonical text of anything else: a whole number with the largest decimal suffix, such as `1500m`.
    pub fn decimal_text(self) -> String {
        if self.0 == 0 {
            return "0".to_owned();
        }
        // One nano divides everything, so a suffix is always found.
        whole(self.0, &DECIMAL).unwrap_or_default()
    }
}

/// `nano` in the first of `suffixes` of which it is a multiple.
fn whole(nano: i128, suffixes: &[(&str, u128)]) -> Option<String> {
    let magnitude = nano.unsigned_abs();
    let sign = if nano < 0 { "-" } else { "" };
    suffixes.iter().find_map(|(suffix, unit)| {
        let number = magnitude.is_multiple_of(*unit).then(|| magnitude.checked_div(*unit))??;
        Some(format!("{sign}{number}{suffix}"))
    })
}
