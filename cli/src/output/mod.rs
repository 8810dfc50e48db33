//! Text for a terminal or a file, and documents for programs.

mod bar;
mod document;
mod explanation;
mod format;
mod glyphs;
mod progress;
mod report;
mod screen;
mod style;
mod table;
mod watch;
mod words;
mod wrap;

use std::io::{self, ErrorKind, Write};

pub(crate) use bar::bar;
#[cfg(test)]
pub(crate) use document::Document;
pub(crate) use document::{document, quantities, time_text};
pub(crate) use explanation::{Explanation, Fact};
pub(crate) use format::{Answer, Format, OutputArgs};
pub(crate) use glyphs::Glyphs;
pub(crate) use progress::Progress;
pub(crate) use report::report;
pub(crate) use screen::Screen;
pub(crate) use style::{Colour, Style};
pub(crate) use table::{Cell, align, columns, titles};
pub(crate) use watch::{INTERVAL, Watch};
pub(crate) use words::{counted, duration, only, spaced, sum};
pub(crate) use wrap::{hanging, wrap};

/// The lines as a text.
pub(crate) fn joined(mut lines: Vec<String>) -> String {
    lines.push(String::new());
    lines.join("\n")
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
