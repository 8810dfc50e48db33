//! A bar that compares what a queue uses with what it deserves.

use super::Glyphs;

/// The most characters of a bar.
const WIDTH: u128 = 20;

/// `███▓` or `███░`: used within the deserved share, used above it, deserved and not used; `most` has the full width.
pub(crate) fn bar(used: i128, deserved: i128, most: i128, glyphs: Glyphs) -> String {
    let length = |amount: i128| -> usize {
        let (amount, most) = (u128::try_from(amount).unwrap_or(0), u128::try_from(most).unwrap_or(0));
        let scaled = amount.saturating_mul(WIDTH).saturating_add(most / 2).checked_div(most).unwrap_or(0);
        // What exists is seen.
        usize::try_from(if amount > 0 { scaled.max(1) } else { 0 }).unwrap_or(0)
    };
    let (used_length, deserved_length) = (length(used), length(deserved));
    let both = used_length.min(deserved_length);
    let mut above = used_length.saturating_sub(both);
    let mut below = deserved_length.saturating_sub(both);
    if used > deserved && above == 0 {
        above = 1;
    }
    if used < deserved && below == 0 {
        below = 1;
    }
    [(glyphs.full, both), (glyphs.above, above), (glyphs.below, below)]
        .map(|(glyph, times)| glyph.repeat(times))
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_the_share_and_what_differs() {
        let drawn = |used, deserved| bar(used, deserved, 47, Glyphs::of(false));
        assert_eq!(drawn(47, 44), "███████████████████▓");
        assert_eq!(drawn(9, 12), "████░");
        assert_eq!(drawn(8, 8), "███");
        assert_eq!(drawn(0, 0), "");
        assert_eq!(bar(9, 12, 47, Glyphs::of(true)), "####.");
        assert_eq!(bar(1, 1, 0, Glyphs::of(true)), "#");
    }
}
