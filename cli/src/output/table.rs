//! Aligned columns.

use super::{Color, Style, length};

/// One field of a table.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    color: Color,
    is_right: bool,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, color: Color) -> Self {
        Self { text: text.into(), color, is_right: false }
    }

    /// A title for the column in which it stands.
    pub(crate) fn titled(&self, title: &str) -> Self {
        Self { text: title.to_owned(), color: Color::Faint, is_right: self.is_right }
    }

    /// The same in another color.
    pub(crate) fn colored(self, color: Color) -> Self {
        Self { color, ..self }
    }

    /// The same at the right end of its column, as numbers stand.
    pub(crate) fn right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

/// Text without color.
impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Color::Plain)
    }
}

/// A row of titles and the other rows, as lines with aligned columns.
pub(crate) fn listing(
    names: &[&str],
    rows: impl IntoIterator<Item = Vec<Cell>>,
    style: Style,
) -> Vec<String> {
    let titles = names.iter().map(|name| Cell::new(*name, Color::Faint)).collect();
    let rows: Vec<Vec<Cell>> = std::iter::once(titles).chain(rows).collect();
    columns(&rows, style)
}

/// The rows as indented lines with aligned columns, nothing behind the last.
pub(crate) fn align(rows: &[Vec<Cell>], style: Style) -> Vec<String> {
    indented(columns(rows, style))
}

/// The lines further to the right.
pub(crate) fn indented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// The rows as lines with aligned columns, nothing behind the last.
pub(crate) fn columns(rows: &[Vec<Cell>], style: Style) -> Vec<String> {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        widths.resize(widths.len().max(row.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(length(&cell.text));
        }
    }
    rows.iter()
        .map(|row| {
            let last = row.len().saturating_sub(1);
            let cells = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| {
                // Color is put on before the padding, which is counted without it.
                let padding = width.saturating_sub(length(&cell.text));
                let text = style.paint(&cell.text, cell.color);
                if cell.is_right {
                    format!("{:padding$}{text}", "")
                } else if at == last {
                    text
                } else {
                    format!("{text}{:padding$}", "")
                }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_do_not_move_columns() {
        let rows = [
            vec!["a".into(), Cell::new("long", Color::Alarm), "x".into()],
            vec![Cell::new("wide", Color::Good), "b".into(), "y".into()],
        ];
        assert_eq!(align(&rows, Style::Plain), ["  a     long  x", "  wide  b     y"]);
        let colored = align(&rows, Style::Colored);
        assert_eq!(colored[0], "  a     \u{1b}[31mlong\u{1b}[0m  x");
        assert_eq!(colored[1], "  \u{1b}[32mwide\u{1b}[0m  b     y");
    }
}
