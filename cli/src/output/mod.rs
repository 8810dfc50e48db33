//! Text for a terminal or a file, and documents for programs.

mod explanation;
mod format;
mod report;
mod screen;
mod table;
mod watch;
mod words;

pub(crate) use explanation::{Explanation, Fact};
#[cfg(test)]
pub(crate) use format::Document;
pub(crate) use format::{Answer, Format, OutputArgs, all_quantities, document, quantities, time_text};
pub(crate) use quotient_operator::print::{note, print};
pub(crate) use report::report;
pub(crate) use screen::{Color, Screen, Style, bar};
pub(crate) use table::{Cell, align, columns, indented, listing};
pub(crate) use watch::{INTERVAL, Progress, Watch};
pub(crate) use words::{
    UNBROKEN, cause, counted, duration, hanging, length, list, number, only, short, short_name, spaced, sum,
    wrap,
};

/// The lines as a text.
pub(crate) fn joined(mut lines: Vec<String>) -> String {
    lines.push(String::new());
    lines.join("\n")
}
