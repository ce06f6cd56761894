//! A place in a file, for messages.

use std::fmt;

use crate::one_line;

/// A line of a file, for a message about the text in that line.
///
/// ```
/// use mimosa_units::Where;
///
/// let place = Where::in_text("run.toml", "duration = \"1s\"\n[link]\n", 16);
/// assert_eq!(place.to_string(), "run.toml:2");
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Where {
    /// Name of the file, as the user gave it.
    pub file: String,
    /// Number of the line, counted from one.
    pub line: usize,
}

impl Where {
    /// The longest file name that is shown whole, in characters: the system's own limit for
    /// a path (`PATH_MAX`).
    pub const LONGEST_FILE: usize = 4_096;

    /// The line of `text` that has the byte at `offset`, where `text` is the content of
    /// `file`; the last line when the text ends before that byte.
    #[must_use]
    pub fn in_text(file: &str, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        Self {
            file: file.to_owned(),
            line: before.matches('\n').count() + 1,
        }
    }
}

impl fmt::Display for Where {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = one_line(&self.file, Self::LONGEST_FILE);
        write!(f, "{file}:{}", self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::Where;

    #[test]
    fn lines_are_counted_from_one() {
        let line = |offset| Where::in_text("f", "ab\ncd\n", offset).line;
        assert_eq!([0, 2, 3, 5, 6, 99].map(line), [1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn the_name_of_a_file_cannot_command_a_terminal() {
        let place = Where {
            file: "a\u{1b}[2J\nb".to_owned(),
            line: 7,
        };
        assert_eq!(place.to_string(), "a [2J b:7");
    }
}
