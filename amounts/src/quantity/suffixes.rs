//! The suffixes of quantities and what they stand for.

/// Nano units in one unit.
pub(super) const NANO_IN_ONE: u128 = 1_000_000_000;

/// The most that a text with a binary suffix states, in nano units: 2^63 − 1 units.
pub(super) const BINARY_MOST: u128 = ((1 << 63) - 1) * NANO_IN_ONE;

/// Decimal suffixes and their nano units, largest first.
pub(super) const DECIMAL: [(&str, u128); 10] = [
    ("E", 1_000_000_000_000_000_000 * NANO_IN_ONE),
    ("P", 1_000_000_000_000_000 * NANO_IN_ONE),
    ("T", 1_000_000_000_000 * NANO_IN_ONE),
    ("G", 1_000_000_000 * NANO_IN_ONE),
    ("M", 1_000_000 * NANO_IN_ONE),
    ("k", 1_000 * NANO_IN_ONE),
    ("", NANO_IN_ONE),
    ("m", 1_000_000),
    ("u", 1_000),
    ("n", 1),
];

/// Binary suffixes and their nano units, largest first.
pub(super) const BINARY: [(&str, u128); 6] = [
    ("Ei", NANO_IN_ONE << 60),
    ("Pi", NANO_IN_ONE << 50),
    ("Ti", NANO_IN_ONE << 40),
    ("Gi", NANO_IN_ONE << 30),
    ("Mi", NANO_IN_ONE << 20),
    ("Ki", NANO_IN_ONE << 10),
];
