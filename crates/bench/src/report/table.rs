//! Tables for terminals: columns as wide as their widest entry, numbers to the right.

use std::fmt::Write;

/// A table; the first columns hold words, the others numbers.
pub(super) struct Table {
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings, of which so many stand above words.
    pub(super) fn new(words: usize, headings: &[&str]) -> Table {
        Table { words, rows: vec![headings.iter().map(|&heading| heading.to_owned()).collect()] }
    }

    /// Adds a row; entries beyond the headings are left out.
    pub(super) fn row(&mut self, row: Vec<String>) {
        self.rows.push(row.into_iter().map(|entry| one_line(&entry)).collect());
    }

    /// The table as text, two spaces between columns.
    pub(super) fn text(&self) -> String {
        let count = self.rows[0].len();
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|entry| entry.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..count).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (entry, &width)) in row.iter().zip(&widths).enumerate() {
                // Writing into a string cannot fail.
                let _ = if column < self.words {
                    write!(line, "{entry:<width$}  ")
                } else {
                    write!(line, "{entry:>width$}  ")
                };
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

/// A text from outside without control characters, which could steer a terminal, on one line.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_entry() {
        let mut table = Table::new(1, &["target", "ms"]);
        table.row(vec!["a\u{1b}[2J".to_owned(), "7".to_owned()]);
        assert_eq!(table.text(), "target  ms\na [2J    7\n");
    }
}
