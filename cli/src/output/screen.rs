//! How text looks where it is printed.

use super::{Glyphs, Style};

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
