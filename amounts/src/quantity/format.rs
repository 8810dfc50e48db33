//! The canonical texts of quantities.

use super::suffixes::{BINARY, BINARY_MOST, DECIMAL, NANO_IN_ONE};

/// The largest decimal suffix that leaves a whole number.
pub(super) fn decimal(nano: i128) -> String {
    if nano == 0 {
        return "0".to_owned();
    }
    // One nano divides everything, so a suffix is always found.
    whole(nano, &DECIMAL).unwrap_or_default()
}

/// The largest binary suffix that leaves a whole number, where binary suffixes are in place.
pub(super) fn binary(nano: i128) -> String {
    let magnitude = nano.unsigned_abs();
    let small = magnitude < NANO_IN_ONE << 10;
    let fractional = !magnitude.is_multiple_of(NANO_IN_ONE);
    if small || fractional || magnitude > BINARY_MOST {
        return decimal(nano);
    }
    whole(nano, &BINARY).or_else(|| whole(nano, &[("", NANO_IN_ONE)])).unwrap_or_default()
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
