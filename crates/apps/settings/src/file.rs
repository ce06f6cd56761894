//! Settings from a TOML file.

use std::ops::Range;

use mimosa_units::{Where, shortened};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::error::{Origin, Problem, SettingsError};
use crate::given::{Given, Said};
use crate::key::{Key, one_line};
use crate::keys::KEYS;

/// Adds the values in the file called `name`.
pub(crate) fn read(name: &str, text: &str, said: &mut Said) -> Result<(), SettingsError> {
    let file = File { name, text };
    let root = DeTable::parse(text).map_err(|error| file.not_toml(&error))?;
    file.table("", root.into_inner(), said)
}

struct File<'a> {
    name: &'a str,
    text: &'a str,
}

impl File<'_> {
    /// Adds the values in the table called `table`; an empty name is the top level.
    fn table(
        &self,
        table: &str,
        entries: DeTable<'_>,
        said: &mut Said,
    ) -> Result<(), SettingsError> {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (entry, value) in entries {
            let (leaf, at) = (entry.get_ref().as_ref(), entry.span());
            if let Some(key) = find(table, leaf) {
                said.add(self.value(key, &at, value)?);
                continue;
            }
            let below = KEYS.iter().map(|key| key.table());
            let Some(known) = below
                .filter(|_| table.is_empty())
                .find(|name| *name == leaf)
            else {
                let key = join(table, leaf);
                let problem = Problem::UnknownKey {
                    mend: mend(table, leaf),
                    key: shortened(&key),
                };
                return Err(self.error(&at, problem));
            };
            match value.into_inner() {
                DeValue::Table(entries) => self.table(known, entries, said)?,
                _ => return Err(self.error(&at, Problem::NotATable { table: known })),
            }
        }
        Ok(())
    }

    fn value(
        &self,
        key: &'static Key,
        at: &Range<usize>,
        value: Spanned<DeValue<'_>>,
    ) -> Result<Given, SettingsError> {
        let written = self.text.get(value.span()).unwrap_or_default().to_owned();
        let value = toml::Value::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let why = one_line(error.message());
            self.error(at, Problem::Toml(format!("`{}`: {why}", key.path)))
        })?;
        Ok(Given {
            key,
            value,
            written,
            origin: self.origin(at),
        })
    }

    fn origin(&self, at: &Range<usize>) -> Origin {
        Origin::File(Where::in_text(self.name, self.text, at.start))
    }

    fn error(&self, at: &Range<usize>, problem: Problem) -> SettingsError {
        SettingsError {
            origin: self.origin(at),
            problem,
        }
    }

    fn not_toml(&self, error: &toml::de::Error) -> SettingsError {
        let at = error.span().unwrap_or(0..0);
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let begin = before.rfind('\n').map_or(0, |index| index + 1);
        let rest = self.text.get(begin..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let mut said = one_line(error.message());
        // A line that may contain a token, or is inside a longer text, is not quoted.
        if line.contains(['=', '[']) && !line.contains("token") {
            said = format!("{said}; the line is `{}`", shortened(line));
        }
        self.error(&at, Problem::Toml(said))
    }
}

/// The key at this place in the file.
fn find(table: &str, leaf: &str) -> Option<&'static Key> {
    let mut keys = KEYS.iter().copied();
    keys.find(|key| key.table() == table && key.leaf() == leaf)
}

fn join(table: &str, leaf: &str) -> String {
    if table.is_empty() {
        leaf.to_owned()
    } else {
        format!("{table}.{leaf}")
    }
}

/// What to write instead of an unknown key.
fn mend(table: &str, leaf: &str) -> String {
    // Keys are also found under their other names: `encoder_threads`, `controller`.
    let elsewhere = |key: &&&Key| key.leaf() == leaf || key.name == leaf;
    if let Some(key) = KEYS.iter().find(elsewhere) {
        return match key.table() {
            "" => format!(
                "`{}` stands at the top of the file, before all tables",
                key.leaf()
            ),
            table => format!("`{}` stands under [{table}]", key.leaf()),
        };
    }
    let mut known: Vec<&str> = Vec::new();
    for key in KEYS {
        let name = if key.table() == table {
            key.leaf()
        } else if table.is_empty() {
            key.table()
        } else {
            continue;
        };
        if known.last() != Some(&name) {
            known.push(name);
        }
    }
    let known = known.join(", ");
    if table.is_empty() {
        format!("at the top there are {known}")
    } else {
        format!("under [{table}] there are {known}")
    }
}
