//! How text looks where it is printed: colors, signs, width, and a bar of signs.

use std::io::{IsTerminal as _, stdout};

/// Colors, signs and width of the place where text is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    pub(crate) style: Style,
    pub(crate) glyphs: Glyphs,
    /// The most characters of a line of prose.
    pub(crate) width: usize,
}

impl Screen {
    /// Prose is not wider, even on a wide terminal.
    const WIDTH: usize = 120;

    /// That of standard output.
    pub(crate) fn of_stdout(no_color: bool, ascii: bool) -> Self {
        Self { style: Style::of_stdout(no_color), glyphs: Glyphs::of(ascii), width: Self::WIDTH }
    }

    /// A file.
    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self { style: Style::Plain, glyphs: Glyphs::of(false), width: Self::WIDTH }
    }
}

/// The signs of one terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Glyphs {
    pub(crate) good: &'static str,
    pub(crate) bad: &'static str,
    pub(crate) warning: &'static str,
    pub(crate) next: &'static str,
    pub(crate) dot: &'static str,
    pub(crate) arrow: &'static str,
    pub(crate) full: &'static str,
    pub(crate) above: &'static str,
    pub(crate) below: &'static str,
}

impl Glyphs {
    /// Those of a terminal that shows only ASCII, or of any other.
    pub(crate) fn of(ascii: bool) -> Self {
        let sign = |sign, in_ascii| if ascii { in_ascii } else { sign };
        Self {
            good: sign("√", "ok"),
            bad: sign("×", "X"),
            warning: sign("‼", "!"),
            next: sign("›", ">"),
            dot: sign("·", "-"),
            arrow: sign("→", "->"),
            full: sign("█", "#"),
            above: sign("▓", "+"),
            below: sign("░", "."),
        }
    }
}

/// What a piece of text means; the terminal shows it as a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    Plain,
    Strong,
    Faint,
    Good,
    Notice,
    Alarm,
}

/// Whether colors are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Colored,
}

impl Style {
    /// Colored on a terminal, unless the user or the environment asks for none (<https://no-color.org>).
    pub(crate) fn of_stdout(no_color: bool) -> Self {
        let refused = no_color
            || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        if stdout().is_terminal() && !refused { Self::Colored } else { Self::Plain }
    }

    /// `text`, wrapped in the sequences that color it.
    pub(crate) fn paint(self, text: &str, color: Color) -> String {
        let code = match color {
            Color::Plain => return text.to_owned(),
            _ if self == Self::Plain => return text.to_owned(),
            Color::Strong => 1,
            Color::Faint => 2,
            Color::Good => 32,
            Color::Notice => 33,
            Color::Alarm => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

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
    let above = used_length.saturating_sub(both).max(usize::from(used > deserved));
    let below = deserved_length.saturating_sub(both).max(usize::from(used < deserved));
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
