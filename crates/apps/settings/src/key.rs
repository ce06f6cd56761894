//! The keys of settings.

use toml::Value;

use crate::error::Problem;

/// A key: one thing that can be set, with its names and its default.
#[derive(Debug)]
#[non_exhaustive]
pub struct Key {
    /// The key's place in the file, e.g. `encoder.threads`.
    pub path: &'static str,
    /// The key's name everywhere else, in lower case, e.g. `encoder_threads`.
    pub name: &'static str,
    /// The form of the key's value.
    pub shape: Shape,
    /// The default, as a flag takes it; empty for no value.
    pub default: &'static str,
    /// The name of the value in help texts, e.g. `PORT`.
    pub placeholder: &'static str,
    /// What the value must be, in error messages.
    pub must: &'static str,
    /// What the key does, in one line.
    pub comment: &'static str,
    /// The heading above the key.
    pub group: &'static str,
}

/// How a text from the environment or a flag becomes a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Shape {
    /// A whole number, decimal or with `0x` in front.
    Number,
    /// A text, used unchanged.
    Text,
    /// A text, used unchanged and never shown.
    Secret,
    /// Texts with commas between them.
    List,
    /// The inside of an inline table: `a = 1, b = 2`.
    Table,
}

impl Key {
    /// The key's flag, e.g. `--http-port`.
    #[must_use]
    pub fn flag(&self) -> String {
        format!("--{}", self.long())
    }

    /// The key's flag without the leading dashes.
    #[must_use]
    pub fn long(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The key's environment variable, e.g. `MIMOSA_HTTP_PORT`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{PREFIX}{}", self.name.to_ascii_uppercase())
    }

    /// The default as TOML.
    pub(crate) fn default_toml(&self) -> String {
        match self.shape {
            Shape::Number if !self.default.is_empty() => self.default.to_owned(),
            Shape::Number | Shape::Text | Shape::Secret => format!("\"{}\"", self.default),
            Shape::List => {
                let quoted = parts(self.default).map(|part| format!("\"{part}\""));
                format!("[{}]", quoted.collect::<Vec<_>>().join(", "))
            }
            Shape::Table => format!("{{{}}}", self.default),
        }
    }

    /// The table of the file in which it stands; empty at the top.
    pub(crate) fn table(&self) -> &'static str {
        self.path.rsplit_once('.').map_or("", |(table, _)| table)
    }

    /// The last part of the key in the file.
    pub(crate) fn leaf(&self) -> &'static str {
        self.path
            .rsplit_once('.')
            .map_or(self.path, |(_, leaf)| leaf)
    }

    /// The value that `text` from the environment or a flag stands for.
    pub(crate) fn value(&self, text: &str) -> Result<Value, Problem> {
        Ok(match self.shape {
            Shape::Number => whole(text).map_or_else(|| text.into(), Value::Integer),
            Shape::Text | Shape::Secret => text.into(),
            Shape::List => Value::Array(parts(text).map(Value::from).collect()),
            Shape::Table => return table(self.path, text),
        })
    }
}

/// The prefix of every environment variable that Mimosa reads.
pub const PREFIX: &str = "MIMOSA_";

/// What stands between commas.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(',').map(str::trim);
    parts.filter(|part| !part.is_empty())
}

/// Reads `17` and `0x11`.
pub(crate) fn whole(text: &str) -> Option<i64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        // A sign after `0x` is none of ours.
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            i64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// Reads `a = 1, b = 2`.
fn table(path: &'static str, text: &str) -> Result<Value, Problem> {
    let wrong = |why: &str| Problem::Params {
        key: path,
        why: format!("{why}; write e.g. `a = 1, b = 2`"),
    };
    let whole = format!("table = {{ {text} }}");
    let mut read: toml::Table =
        toml::from_str(&whole).map_err(|error| wrong(&one_line(error.message())))?;
    match (read.remove("table"), read.is_empty()) {
        (Some(value @ Value::Table(_)), true) => Ok(value),
        _ => Err(wrong("there is more than one table")),
    }
}

/// A parser's message as part of a sentence.
pub(crate) fn one_line(message: &str) -> String {
    /// Room for what is wrong and a list of what would be right.
    const LONGEST: usize = 1_000;
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    mimosa_units::one_line(&words, LONGEST)
}

#[cfg(test)]
mod tests {
    use crate::keys::{BIND, HTTP_PORT, PARAMS, WINDOW};

    use super::*;

    #[test]
    fn one_key_has_one_name_of_each_kind() {
        assert_eq!(HTTP_PORT.flag(), "--http-port");
        assert_eq!(HTTP_PORT.variable(), "MIMOSA_HTTP_PORT");
        assert_eq!((PARAMS.table(), PARAMS.leaf()), ("controller", "params"));
        assert_eq!((BIND.table(), BIND.leaf()), ("", "bind"));
    }

    #[test]
    fn defaults_are_shown_as_the_file_takes_them() {
        assert_eq!(BIND.default_toml(), "[\"127.0.0.1\", \"::1\"]");
        assert_eq!(HTTP_PORT.default_toml(), "8080");
        assert_eq!(WINDOW.default_toml(), "\"\"");
        assert_eq!(PARAMS.default_toml(), "{}");
    }

    #[test]
    fn whole_numbers_are_decimal_or_hexadecimal() {
        assert_eq!(whole(" 17 "), Some(17));
        assert_eq!(whole("0x1a00003"), Some(0x1a0_0003));
        for not in [
            "0x",
            "0x-1",
            "0x+1",
            "1a",
            "",
            "1.0",
            "99999999999999999999",
        ] {
            assert_eq!(whole(not), None, "{not}");
        }
    }

    #[test]
    fn a_table_does_not_break_out_of_its_brackets() {
        assert!(PARAMS.value("a = 1, b = \"x\"").is_ok());
        assert!(PARAMS.value("").is_ok());
        for bad in [
            "a = 1 }\ny = { b = 1",
            "} \n [table.x]\n a = {",
            "a",
            "{ a = 1 }",
        ] {
            assert!(PARAMS.value(bad).is_err(), "{bad}");
        }
    }
}
