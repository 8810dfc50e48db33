//! A table: Markdown for a page, columns for a terminal.

/// Rows under named columns.
#[derive(Clone, Debug)]
pub struct Table {
    names: Vec<String>,
    rules: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows. A column whose name begins with `>` is aligned to the right.
    pub fn new<Name: AsRef<str>>(columns: impl IntoIterator<Item = Name>) -> Self {
        let columns = columns.into_iter().map(|column| match column.as_ref().strip_prefix('>') {
            Some(name) => (name.to_owned(), "---:"),
            None => (column.as_ref().to_owned(), "---"),
        });
        let (names, rules) = columns.unzip();
        Self { names, rules, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<Cell: Into<String>>(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells =
                cells.iter().map(|cell| format!(" {cell}{}|", if cell.is_empty() { "" } else { " " }));
            format!("|{}\n", cells.collect::<String>())
        };
        let rows: String = self.rows.iter().map(line).collect();
        format!("{}|{}|\n{rows}", line(&self.names), self.rules.join("|"))
    }

    /// In columns of equal width.
    pub fn text(&self) -> String {
        let lines = std::iter::once(&self.names).chain(&self.rows);
        let width = |column: usize| {
            let cells = lines.clone().filter_map(|cells| cells.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.names.len()).map(width).collect();
        let line = |cells: &Vec<String>| {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}  "));
            format!("{}\n", padded.collect::<String>().trim_end())
        };
        lines.clone().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_table_is_told_in_two_ways() {
        let mut table = Table::new(["", ">seconds"]);
        table.row(["first pod", "1.5"]);
        table.row(["–", ""]);
        assert_eq!(table.markdown(), "| | seconds |\n|---|---:|\n| first pod | 1.5 |\n| – | |\n");
        assert_eq!(table.text(), "           seconds\nfirst pod  1.5\n–\n");
    }
}
