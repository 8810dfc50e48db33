//! Text for a terminal or a file, and documents for programs.

mod bar;
mod document;
mod format;
mod glyphs;
mod progress;
mod screen;
mod words;
mod wrap;

use std::io::{self, ErrorKind, IsTerminal, Write};

pub(crate) use bar::bar;
#[cfg(test)]
pub(crate) use document::Document;
pub(crate) use document::{document, quantities, time_text};
pub(crate) use format::{Answer, Format, OutputArgs};
pub(crate) use glyphs::Glyphs;
pub(crate) use progress::Progress;
pub(crate) use screen::Screen;
pub(crate) use words::{counted, duration};
pub(crate) use wrap::{hanging, wrap};

/// What a piece of text means; the terminal shows it as a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    Plain,
    Strong,
    Faint,
    Good,
    Notice,
    Alarm,
}

/// Whether colours are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// Coloured on a terminal, unless the user or the environment asks for none (<https://no-color.org>).
    pub(crate) fn of_stdout(no_color: bool) -> Self {
        let refused = no_color
            || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        if io::stdout().is_terminal() && !refused { Self::Coloured } else { Self::Plain }
    }

    /// `text`, wrapped in the sequences that colour it.
    pub(crate) fn paint(self, text: &str, colour: Colour) -> String {
        let code = match colour {
            Colour::Plain => return text.to_owned(),
            _ if self == Self::Plain => return text.to_owned(),
            Colour::Strong => 1,
            Colour::Faint => 2,
            Colour::Good => 32,
            Colour::Notice => 33,
            Colour::Alarm => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// One field of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    colour: Colour,
    side: Side,
}

/// Where the padding of a field is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Cell {
    pub(crate) fn new(text: &str, colour: Colour) -> Self {
        Self { text: text.to_owned(), colour, side: Side::Left }
    }

    /// The same in another color.
    pub(crate) fn coloured(self, colour: Colour) -> Self {
        Self { colour, ..self }
    }

    /// The same at the right end of its column, as numbers stand.
    pub(crate) fn right(self) -> Self {
        Self { side: Side::Right, ..self }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Colour::Plain)
    }
}

/// The rows as indented lines with aligned columns, nothing behind the last.
pub(crate) fn align(rows: &[Vec<Cell>], style: Style) -> Vec<String> {
    columns(rows, style).into_iter().map(|line| format!("  {line}")).collect()
}

/// The rows as lines with aligned columns, nothing behind the last.
pub(crate) fn columns(rows: &[Vec<Cell>], style: Style) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.text.chars().count());
        }
    }
    rows.iter()
        .map(|row| {
            let last = row.len().saturating_sub(1);
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
                // Colour is put on before the padding, which is counted without it.
                let padding = width.saturating_sub(cell.text.chars().count());
                let text = style.paint(&cell.text, cell.colour);
                match cell.side {
                    Side::Right => format!("{:padding$}{text}", ""),
                    Side::Left if at == last => text,
                    Side::Left => format!("{text}{:padding$}", ""),
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_do_not_move_columns() {
        let rows = [
            vec![Cell::plain("a"), Cell::new("long", Colour::Alarm), Cell::plain("x")],
            vec![Cell::new("wide", Colour::Good), Cell::plain("b"), Cell::plain("y")],
        ];
        assert_eq!(align(&rows, Style::Plain), ["  a     long  x", "  wide  b     y"]);
        let coloured = align(&rows, Style::Coloured);
        assert_eq!(coloured[0], "  a     \u{1b}[31mlong\u{1b}[0m  x");
        assert_eq!(coloured[1], "  \u{1b}[32mwide\u{1b}[0m  b     y");
    }
}
