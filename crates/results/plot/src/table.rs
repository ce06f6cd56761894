//! Text in rows and columns.

use std::fmt::Write as _;

use crate::text::{ELLIPSIS, printable};

/// Longest cell, in characters: longer than any of ours, and far below the widths at which the
/// standard library refuses to pad.
const LONGEST: usize = 200;

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
    /// The table as text in a fixed-width font: title, headers and rows, with names to the left and
    /// numbers to the right.
    #[must_use]
    pub fn to_text(&self) -> String {
        format!("{}:\n\n{}", self.title, self.grid(false))
    }

    /// The table as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        format!("{}:\n\n{}", self.title, self.grid(true))
    }

    fn grid(&self, markdown: bool) -> String {
        let (rule, gap) = if markdown { ("| ", " ") } else { ("", "  ") };
        let shown = |row: &Vec<String>| row.iter().map(|cell| shown(cell, markdown)).collect();
        let rows: Vec<Vec<String>> = std::iter::once(&self.headers)
            .chain(&self.rows)
            .map(shown)
            .collect();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
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
        for (index, row) in rows.iter().enumerate() {
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

/// A cell on one line, of at most [`LONGEST`] characters. Characters with a meaning in Markdown are
/// escaped, because a cell may contain a stranger's text.
fn shown(cell: &str, markdown: bool) -> String {
    let mut rest = cell.chars();
    let mut text = String::new();
    for character in rest.by_ref().take(LONGEST).map(printable) {
        match character {
            '|' if markdown => text.push_str("\\|"),
            '<' if markdown => text.push_str("&lt;"),
            _ => text.push(character),
        }
    }
    if rest.next().is_some() {
        text.push(ELLIPSIS);
    }
    text
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
    #[test]
    fn a_strangers_cell_is_one_line_without_meaning() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let long = "x".repeat(70_000);
        let table = Table {
            title: "Delay".to_owned(),
            headers: row(["flow", "p99"]),
            rows: vec![row(["a|<b>\n\u{1b}[31m", "7.1"]), row([&long, "1"])],
        };
        let text = table.to_text();
        let width = |line: &str| line.chars().count();
        assert!(text.contains("\na|<b>  [31m "), "{text}");
        assert!(text.lines().all(|line| width(line) < 210), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(text.lines().count(), 5, "{text}");
        let markdown = table.to_markdown();
        assert!(markdown.contains("\n| a\\|&lt;b>  [31m "), "{markdown}");
        assert_eq!(markdown.lines().count(), 6, "{markdown}");
    }
}
