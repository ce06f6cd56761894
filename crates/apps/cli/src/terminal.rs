//! Prints on standard output and standard error.
//!
//! Text from others, such as the names in a scenario or a host's messages, may contain bytes that
//! control a terminal. Control characters other than line ends and tabs are replaced.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::output::{OutputError, unless_gone};

/// The bytes that clear a terminal and move to its top left.
const CLEAR: &str = "\x1b[H\x1b[2J";
/// What replaces a control character.
const REPLACEMENT: char = '\u{FFFD}';

/// Prints `text` on standard output. A reader that is gone is not an error.
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    write("", text).map(drop)
}

/// Prints a drawing of this program's own, which may set colours.
pub(crate) fn print_drawing(drawing: &str) -> Result<(), OutputError> {
    write(drawing, "").map(drop)
}

/// Number of columns of the terminal on standard output; 80 if it does not say.
pub(crate) fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    let columns = size.map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { 80 } else { columns }
}

/// Prints `text` in place of the terminal's content. `false` if the reader is gone.
pub(crate) fn print_anew(text: &str) -> Result<bool, OutputError> {
    write(CLEAR, text)
}

/// Writes `before` unchanged, and then `text`. `false` if the reader is gone.
fn write(before: &str, text: &str) -> Result<bool, OutputError> {
    let text = format!("{before}{}", printable(text));
    let mut out = io::stdout().lock();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    unless_gone(result.map(|()| true), false).map_err(|source| OutputError::Write {
        path: PathBuf::from("standard output"),
        source,
    })
}

/// Prints `what` on standard error, on a line of its own.
pub(crate) fn say(what: impl Display) {
    // If standard error is closed, there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", printable(&what.to_string()));
}

/// `text` without the characters that control a terminal.
fn printable(text: &str) -> String {
    let safe = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() => REPLACEMENT,
        c => c,
    };
    text.chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_nothing_to_obey() {
        let hostile = "a\u{1b}[31m\u{7}\r\u{9b}2J\u{7f}b\tc\nd\u{0}é";
        assert_eq!(
            printable(hostile),
            "a\u{FFFD}[31m\u{FFFD}\u{FFFD}\u{FFFD}2J\u{FFFD}b\tc\nd\u{FFFD}é"
        );
    }
}
