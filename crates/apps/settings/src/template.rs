//! Writes the settings file that people edit.

use std::fmt::Write;

use crate::key::Shape;
use crate::keys::KEYS;

/// The beginning of the file.
const HEAD: &str = "\
# Settings of `mimosa serve`.
#
# Each `#key = value` shows a default; remove the # in front of it and change
# the value. An empty text stands for nothing. An environment variable wins over
# this file and a flag over both; `mimosa serve --help` names them, and
# `mimosa doctor` says what is wrong with this file.
";

/// A commented file with every key. A key that is not changed has its default.
#[must_use]
pub fn template() -> String {
    let mut text = HEAD.to_owned();
    let mut group = "";
    for key in KEYS {
        if key.group != group {
            group = key.group;
            let _ = write!(text, "\n# ---- {group} ----\n");
            if !key.table().is_empty() {
                let _ = write!(text, "\n[{}]\n", key.table());
            }
        }
        let _ = write!(text, "\n# {}\n", key.comment);
        let _ = match key.shape {
            Shape::Table => writeln!(text, "[{}]", key.path),
            _ => writeln!(text, "#{} = {}", key.leaf(), key.default_toml()),
        };
    }
    text
}
