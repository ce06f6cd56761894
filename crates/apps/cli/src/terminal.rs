//! Standard output and standard error: what people read.
//!
//! Text of others, such as the names in a scenario or the words of a host, may hold bytes that
//! a terminal obeys. Nothing below a space but the ends of lines and tabs gets there.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::output::{OutputError, unless_gone};

/// Moves to the top left of a terminal and clears what is there.
const CLEAR: &str = "\x1b[H\x1b[2J";
/// What stands for a character that a terminal would obey.
const REPLACEMENT: char = '\u{FFFD}';

/// Prints `text` on standard output. A reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), OutputError> {
    write("", text).map(drop)
}

/// Prints `text` in place of all that a terminal shows. `false` when its reader has gone away.
pub(crate) fn print_anew(text: &str) -> Result<bool, OutputError> {
    write(CLEAR, text)
}

/// Writes `before` as it is and then `text`. `false` when the reader has gone away.
fn write(before: &str, text: &str) -> Result<bool, OutputError> {
    let text = format!("{before}{}", printable(text));
    let mut out = io::stdout().lock();
    let result = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    unless_gone(result.map(|()| true), false).map_err(|source| OutputError::Write {
        path: PathBuf::from("standard output"),
        source,
    })
}

/// Says `what` on standard error, on a line of its own.
pub(crate) fn say(what: impl Display) {
    // Who closed it wants to hear nothing.
    let _ = writeln!(io::stderr(), "{}", printable(&what.to_string()));
}

/// `text` without what a terminal obeys.
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
