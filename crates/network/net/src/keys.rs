//! The keys of a queue or a medium in a file, which are read by name, each with its place.
//!
//! A queue asks [`Keys`] for each key that it knows, with the value that applies without the
//! key. In the end the keys that have not been asked for are refused, with a list of those
//! that have. So a queue names its keys once, where it reads them.

mod problem;
#[cfg(test)]
mod tests;
mod tree;

use std::fmt::Display;
use std::ops::{Range, RangeInclusive};

use mimosa_units::{Bytes, TimeDelta};
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::queue::{Limit, QueueConfig, Surroundings};
pub use problem::{KeyError, KeyProblem};
use tree::Node;
pub use tree::Table;

/// The most packets that a limit may state: what a gigabyte of memory holds.
pub(crate) const MOST_PACKETS: usize = 1_000_000;
/// The most queues into which flows may be hashed.
pub(crate) const MOST_FLOWS: usize = 65_536;

/// The key that names the kind of a queue or a medium.
pub(crate) const KIND: &str = "kind";

/// The result of reading: a value, or why it could not be read.
pub(crate) type Read<T> = Result<T, KeyError>;

/// The keys of one table, and those that have been asked for.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    table: &'a Table,
    at: Range<usize>,
    /// The word for the thing whose keys they are, and its kind; `None` for a table without a
    /// kind.
    kind: Option<(&'static str, &'a str)>,
    asked: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    /// The keys of `table`, which is in the bytes `at` of the file.
    pub(crate) const fn new(table: &'a Table, at: Range<usize>) -> Self {
        Self {
            table,
            at,
            kind: None,
            asked: Vec::new(),
        }
    }

    /// Reads the key `kind` of a `thing` such as a queue. Returns its value, and the keys as those of
    /// such a thing.
    pub(crate) fn of_kind(mut self, thing: &'static str) -> Read<(&'a str, Self)> {
        let Some(node) = self.table.value(KIND) else {
            return Err(self.missing(KIND));
        };
        let kind = node.get_ref().text();
        let kind = kind.ok_or_else(|| tree::wrong_type(node, "a string"))?;
        self.kind = Some((thing, kind));
        Ok((kind, self))
    }

    /// An error with this `problem`, at the place of this table.
    pub(crate) fn error(&self, problem: KeyProblem) -> KeyError {
        KeyError {
            at: self.at.clone(),
            problem,
        }
    }

    /// An error with this `problem`, at the place of the value of `key`, or of this table if
    /// it has no such key.
    pub(crate) fn error_at(&self, key: &str, problem: KeyProblem) -> KeyError {
        KeyError {
            at: self.table.value(key).map_or(self.at.clone(), Spanned::span),
            problem,
        }
    }

    /// The error for a missing key that every table of this kind must have.
    fn missing(&self, key: &str) -> KeyError {
        self.error(KeyProblem::Form(format!("missing field `{key}`")))
    }

    fn ask(&mut self, key: &'static str) -> Option<&'a Spanned<Node>> {
        self.asked.push(key);
        self.table.value(key)
    }

    /// Reads the value of `key`; `None` if the key is not given.
    pub(crate) fn given<T: DeserializeOwned>(&mut self, key: &'static str) -> Read<Option<T>> {
        self.ask(key).map(tree::read).transpose()
    }

    /// Reads the value of `key`; `otherwise` if the key is not given.
    pub(crate) fn or<T: DeserializeOwned>(&mut self, key: &'static str, otherwise: T) -> Read<T> {
        Ok(self.given(key)?.unwrap_or(otherwise))
    }

    /// Reads the value of `key`. If the key is not given, that is an error, in which `mend`
    /// says what to write.
    pub(crate) fn required<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        mend: &'static str,
    ) -> Read<T> {
        let given = self.given(key)?;
        given.ok_or_else(|| self.error(KeyProblem::Missing { key, mend }))
    }

    /// Reads the value of `key`, which every table of this kind must have.
    pub(crate) fn field<T: DeserializeOwned>(&mut self, key: &'static str) -> Read<T> {
        let given = self.given(key)?;
        given.ok_or_else(|| self.missing(key))
    }

    /// Reads the value of `key`; `None` if the key is not given. A value that is not `valid`
    /// is refused; `must` says in words what it must be.
    pub(crate) fn valid<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        valid: impl FnOnce(&T) -> bool,
        must: &'static str,
    ) -> Read<Option<T>> {
        let value = self.given(key)?;
        self.check(key, value.as_ref().is_none_or(valid), must)?;
        Ok(value)
    }

    /// Refuses the value of `key` unless it is `valid`; `must` says in words what it must be.
    pub(crate) fn check(&self, key: &'static str, valid: bool, must: &'static str) -> Read<()> {
        if valid {
            return Ok(());
        }
        Err(self.error_at(key, KeyProblem::OutOfRange { key, must }))
    }

    /// Reads a time above zero.
    pub(crate) fn time_above_zero(
        &mut self,
        key: &'static str,
        otherwise: TimeDelta,
    ) -> Read<TimeDelta> {
        let given = self.valid(key, |time| *time > TimeDelta::ZERO, "longer than zero")?;
        Ok(given.unwrap_or(otherwise))
    }

    /// Reads a number of bytes above zero.
    pub(crate) fn size(&mut self, key: &'static str, otherwise: Bytes) -> Read<Bytes> {
        let given = self.valid(key, |size| *size > Bytes::ZERO, "one byte or more")?;
        Ok(given.unwrap_or(otherwise))
    }

    /// Reads the gain of a controller, from 0 to a million.
    pub(crate) fn gain(&mut self, key: &'static str, otherwise: f64) -> Read<f64> {
        let must = "a number from 0 to 1000000";
        let given = self.valid(key, |gain| (0.0..=1e6).contains(gain), must)?;
        Ok(given.unwrap_or(otherwise))
    }

    /// Reads a share from 0 to 1; `None` if the key is not given.
    pub(crate) fn share(&mut self, key: &'static str) -> Read<Option<f64>> {
        let must = "a share between 0 and 1";
        self.valid(key, |share| (0.0..=1.0).contains(share), must)
    }

    /// Reads a number within `range`.
    pub(crate) fn number<T: DeserializeOwned + PartialOrd + Display>(
        &mut self,
        key: &'static str,
        otherwise: T,
        range: RangeInclusive<T>,
    ) -> Read<T> {
        match self.given(key)? {
            None => Ok(otherwise),
            Some(number) if range.contains(&number) => Ok(number),
            Some(_) => {
                let [least, most] = [range.start(), range.end()].map(ToString::to_string);
                Err(self.error_at(key, KeyProblem::NumberOutOfRange { key, least, most }))
            }
        }
    }

    /// Reads the queue's `limit` in any of its forms; `None` if it is not given.
    pub(crate) fn limit(&mut self) -> Read<Option<Limit>> {
        let Some(text) = self.given::<String>("limit")? else {
            return Ok(None);
        };
        match Limit::parse(&text) {
            None => Err(self.error_at("limit", KeyProblem::BadLimit { text })),
            limit => Ok(limit),
        }
    }

    /// Reads the `limit` of a queue that counts packets.
    pub(crate) fn packets(&mut self, otherwise: usize) -> Read<usize> {
        let packets = |text: &str| match Limit::parse(text) {
            Some(Limit::Packets(packets)) => Some(packets),
            _ => None,
        };
        let packets = |text: &str| packets(text).filter(|most| (1..=MOST_PACKETS).contains(most));
        let must = "a number of packets from 1 to a million, e.g. \"1000packets\"";
        Ok(self.parsed("limit", packets, must)?.unwrap_or(otherwise))
    }

    /// Reads the text at `key` with `parse`; `None` if the key is not given. A text that
    /// `parse` does not accept is refused; `must` says in words what it accepts.
    pub(crate) fn parsed<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
        must: &'static str,
    ) -> Read<Option<T>> {
        let Some(text) = self.given::<String>(key)? else {
            return Ok(None);
        };
        let value = parse(&text);
        self.check(key, value.is_some(), must)?;
        Ok(value)
    }

    /// Reads the name at `key`, and returns the one of `choices` with this name; `None` if
    /// the key is not given.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Read<Option<T>> {
        let Some(name) = self.given::<String>(key)? else {
            return Ok(None);
        };
        match choices.iter().find(|(known, _)| *known == name) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(self.unknown(key, key, name, choices.iter().map(|(known, _)| *known))),
        }
    }

    /// The error for a `name` at `key` when no `what` has this name; `known` are the names
    /// that exist.
    pub(crate) fn unknown<'k>(
        &self,
        key: &str,
        what: &'static str,
        name: String,
        known: impl Iterator<Item = &'k str>,
    ) -> KeyError {
        let known = known.collect::<Vec<_>>().join(", ");
        self.error_at(key, KeyProblem::UnknownName { what, name, known })
    }

    /// Refuses two keys of which only one may be given, at the place of the second.
    pub(crate) fn exclusive(&self, one: &'static str, other: &'static str) -> Read<()> {
        if self.table.value(one).is_none() || self.table.value(other).is_none() {
            return Ok(());
        }
        Err(self.error_at(other, KeyProblem::Exclusive { one, other }))
    }

    /// The keys of the table at `key`; `None` if the key is not given.
    pub(crate) fn table(&mut self, key: &'static str) -> Read<Option<Self>> {
        self.ask(key).map(Self::of_node).transpose()
    }

    /// Reads the queue at `key`; `None` if the key is not given.
    pub(crate) fn queue(
        &mut self,
        key: &'static str,
        around: &Surroundings<'_>,
    ) -> Read<Option<QueueConfig>> {
        let keys = self.table(key)?;
        keys.map(|keys| QueueConfig::of_keys(keys, around))
            .transpose()
    }

    /// The keys of each table in the list at `key`; none if the key is not given.
    pub(crate) fn tables(&mut self, key: &'static str) -> Read<Vec<Self>> {
        self.list(key)?.iter().map(Self::of_node).collect()
    }

    /// Reads the texts in the list at `key`, with their places; none if the key is not given.
    pub(crate) fn texts(&mut self, key: &'static str) -> Read<Vec<Spanned<String>>> {
        let text = |node| Ok(Spanned::new(Spanned::span(node), tree::read(node)?));
        self.list(key)?.iter().map(text).collect()
    }

    fn list(&mut self, key: &'static str) -> Read<&'a [Spanned<Node>]> {
        match self.ask(key) {
            None => Ok(&[]),
            Some(node) => match node.get_ref() {
                Node::List(list) => Ok(list),
                _ => Err(tree::wrong_type(node, "a sequence")),
            },
        }
    }

    fn of_node(node: &'a Spanned<Node>) -> Read<Self> {
        match node.get_ref() {
            Node::Table(table) => Ok(Self::new(table, node.span())),
            _ => Err(tree::wrong_type(node, tree::TABLE)),
        }
    }

    /// Refuses the first key of the table that has not been asked for.
    pub(crate) fn finish(self) -> Read<()> {
        let is_known =
            |key: &str| self.asked.contains(&key) || (self.kind.is_some() && key == KIND);
        let Some(key) = self.table.keys().find(|key| !is_known(key.get_ref())) else {
            return Ok(());
        };
        let (at, key) = (key.span(), key.get_ref().clone());
        let problem = match self.kind {
            Some((thing, kind)) => KeyProblem::KeyNotForKind {
                key,
                thing,
                kind: kind.to_owned(),
                known: self.asked.join(", "),
            },
            None => KeyProblem::unknown_field(&key, &self.asked),
        };
        Err(KeyError { at, problem })
    }
}
