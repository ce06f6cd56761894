//! A table of a file as it is written, with the place of every key and value.
//!
//! The keys that a queue's table may have depend on its `kind`. A serde enum that is tagged
//! by `kind` could read the table, but would lose the places; this tree keeps them until the
//! kind is known.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, de};
use toml::Spanned;

use super::{KeyError, KeyProblem, Read};

/// The words for a table in messages.
pub(super) const TABLE: &str = "a table";

/// A table of a file whose keys are not known yet.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Keys and values, in the order of the file.
    entries: Vec<(Spanned<String>, Spanned<Node>)>,
}

/// A value of a file.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A text, a number or a boolean.
    Value(toml::Value),
    /// A list, `[…]`.
    List(Vec<Spanned<Self>>),
    /// A table, `{ … }`.
    Table(Table),
}

impl Table {
    /// The place of the first element of the list at `key`; `None` when there is no such list
    /// or the list is empty.
    #[must_use]
    pub fn first_in(&self, key: &str) -> Option<Range<usize>> {
        match self.value(key)?.get_ref() {
            Node::List(list) => list.first().map(Spanned::span),
            _ => None,
        }
    }

    pub(super) fn value(&self, key: &str) -> Option<&Spanned<Node>> {
        let mut entries = self.entries.iter();
        let found = entries.find(|(known, _)| known.get_ref() == key);
        found.map(|(_, value)| value)
    }

    /// The keys of the table, in the order of the file.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.entries.iter().map(|(key, _)| key)
    }
}

impl Node {
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Value(toml::Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value without the places.
    fn plain(&self) -> toml::Value {
        match self {
            Self::Value(value) => value.clone(),
            Self::List(list) => {
                let plain = list.iter().map(|node| node.get_ref().plain());
                toml::Value::Array(plain.collect())
            }
            Self::Table(table) => {
                let entries = table.entries.iter();
                let plain = entries.map(|(key, node)| (key.get_ref().clone(), node));
                toml::Value::Table(
                    plain
                        .map(|(key, node)| (key, node.get_ref().plain()))
                        .collect(),
                )
            }
        }
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match self {
            Self::Value(toml::Value::String(text)) => Unexpected::Str(text),
            Self::Value(toml::Value::Integer(number)) => Unexpected::Signed(*number),
            Self::Value(toml::Value::Float(number)) => Unexpected::Float(*number),
            Self::Value(toml::Value::Boolean(truth)) => Unexpected::Bool(*truth),
            Self::Value(_) => Unexpected::Other("value"),
            Self::List(_) => Unexpected::Seq,
            Self::Table(_) => Unexpected::Map,
        }
    }
}

/// Reads the node as a value of type `T`.
pub(super) fn read<T: DeserializeOwned>(node: &Spanned<Node>) -> Read<T> {
    T::deserialize(node.get_ref().plain()).map_err(|error| KeyError {
        at: node.span(),
        problem: KeyProblem::Form(error.message().to_owned()),
    })
}

/// The error for a node that is not of the `expected` type, with serde's message.
pub(super) fn wrong_type(node: &Spanned<Node>, expected: &'static str) -> KeyError {
    let error = de::value::Error::invalid_type(node.get_ref().unexpected(), &expected);
    KeyError {
        at: node.span(),
        problem: KeyProblem::Form(error.to_string()),
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Table;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(TABLE)
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Table, M::Error> {
                entries(map)
            }
        }
        from.deserialize_map(Entries)
    }
}

fn entries<'de, M: MapAccess<'de>>(mut map: M) -> Result<Table, M::Error> {
    let mut entries = Vec::new();
    // Only a date, which `toml` presents as a table of one key, has a key without a place.
    let no_date = |_| M::Error::custom("a date means nothing here");
    while let Some(key) = map.next_key::<Spanned<String>>().map_err(no_date)? {
        entries.push((key, map.next_value::<Spanned<Node>>()?));
    }
    entries.sort_by_key(|(key, _)| key.span().start);
    Ok(Table { entries })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Node;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, a truth, a list, a table or a number of 64 bits")
            }
            fn visit_bool<E: Error>(self, truth: bool) -> Result<Node, E> {
                Ok(Node::Value(truth.into()))
            }
            fn visit_i64<E: Error>(self, number: i64) -> Result<Node, E> {
                Ok(Node::Value(number.into()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Node, E> {
                Ok(Node::Value(number.into()))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
                Ok(Node::Value(text.into()))
            }
            fn visit_seq<S: SeqAccess<'de>>(self, mut seq: S) -> Result<Node, S::Error> {
                let mut list = Vec::new();
                while let Some(node) = seq.next_element()? {
                    list.push(node);
                }
                Ok(Node::List(list))
            }
            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Node, M::Error> {
                entries(map).map(Node::Table)
            }
        }
        from.deserialize_any(Any)
    }
}
