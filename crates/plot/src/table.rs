//! Text in rows and columns.

use std::fmt::Write as _;

/// Text in rows and columns, for a page or a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// What the table shows, with the units that its columns share.
    pub title: String,
    /// One name per column.
    pub headers: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The table in letters of one width: title, headers and rows, names to the
    /// left and numbers to the right.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}:\n\n{}", self.title, self.grid(false))
    }

    /// The same as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        format!("{}:\n\n{}", self.title, self.grid(true))
    }

    fn grid(&self, markdown: bool) -> String {
        let (rule, gap) = if markdown { ("| ", " ") } else { ("", "  ") };
        let rows = || std::iter::once(&self.headers).chain(&self.rows);
        let width = |column: usize| {
            let cells = rows().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let is_name = |column: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.any(|cell| cell.starts_with(char::is_alphabetic))
        };
        let layout: Vec<_> = (0..self.headers.len())
            .map(|column| (width(column), is_name(column)))
            .collect();
        let mut text = String::new();
        for (index, row) in rows().enumerate() {
            let mut line = String::new();
            for (cell, (width, is_name)) in row.iter().zip(&layout) {
                let _ = if *is_name {
                    write!(line, "{rule}{cell:<width$}{gap}")
                } else {
                    write!(line, "{rule}{cell:>width$}{gap}")
                };
            }
            let end = if markdown { " |" } else { "" };
            let _ = writeln!(text, "{}{end}", line.trim_end());
            if index == 0 && markdown {
                let mark = |(_, is_name): &(usize, bool)| if *is_name { "|---" } else { "|--:" };
                let marks: String = layout.iter().map(mark).collect();
                let _ = writeln!(text, "{marks}|");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_to_the_left_and_numbers_to_the_right() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let table = Table {
            title: "Delay".to_owned(),
            headers: row(["flow", "p99"]),
            rows: vec![row(["game", "7.1"]), row(["télé", "12.0"])],
        };
        let text = "Delay:\n\nflow   p99\ngame   7.1\ntélé  12.0\n";
        assert_eq!(table.to_text(), text);
        let markdown = "Delay:\n\n| flow |  p99 |\n|---|--:|\n| game |  7.1 |\n| télé | 12.0 |\n";
        assert_eq!(table.to_markdown(), markdown);
    }
}
