//! The keys of one queue in a file: read by name, each with its place.
//!
//! A queue asks [`Keys`] for what it has, each key with the value that counts without it.
//! What nobody has asked for is refused in the end, with the list of what was: a queue names
//! its keys once, where it reads them.

mod problem;
#[cfg(test)]
mod tests;
mod tree;

use std::ops::{Range, RangeInclusive};

use mimosa_units::{Bytes, TimeDelta};
use serde::de::DeserializeOwned;
use toml::Spanned;

use crate::queue::{Limit, QueueConfig, Surroundings};
pub use problem::{KeyError, KeyProblem};
use tree::Node;
pub use tree::Table;

/// Most packets that a limit may state: what a gigabyte of memory holds.
pub(crate) const MOST_PACKETS: usize = 1_000_000;
/// Most queues that flows may be hashed into.
pub(crate) const MOST_FLOWS: usize = 65_536;

/// The key that names a queue's kind.
pub(crate) const KIND: &str = "kind";

/// What was read, or why it could not be.
pub(crate) type Read<T> = Result<T, KeyError>;

/// The keys of one table, and which of them were asked for.
#[derive(Debug)]
pub(crate) struct Keys<'a> {
    table: &'a Table,
    at: Range<usize>,
    /// The queue whose keys they are; `None` for a table of another thing.
    kind: Option<&'a str>,
    asked: Vec<&'static str>,
}

impl<'a> Keys<'a> {
    /// The keys of `table`, which stands `at` a place of the file.
    pub(crate) const fn new(table: &'a Table, at: Range<usize>) -> Self {
        Self {
            table,
            at,
            kind: None,
            asked: Vec::new(),
        }
    }

    /// The keys of a queue, which its key `kind` names.
    pub(crate) fn of_queue(mut self) -> Read<(&'a str, Self)> {
        let Some(node) = self.table.value(KIND) else {
            return Err(self.missing(KIND));
        };
        let kind = node.get_ref().text();
        let kind = kind.ok_or_else(|| tree::wrong_type(node, "a string"))?;
        self.kind = Some(kind);
        Ok((kind, self))
    }

    /// `problem`, at this table.
    pub(crate) fn error(&self, problem: KeyProblem) -> KeyError {
        KeyError {
            at: self.at.clone(),
            problem,
        }
    }

    /// `problem`, at the value of `key`; at this table where it has no such key.
    pub(crate) fn error_at(&self, key: &str, problem: KeyProblem) -> KeyError {
        KeyError {
            at: self.table.value(key).map_or(self.at.clone(), Spanned::span),
            problem,
        }
    }

    /// The problem of a key that every such table has.
    fn missing(&self, key: &str) -> KeyError {
        self.error(KeyProblem::Form(format!("missing field `{key}`")))
    }

    fn ask(&mut self, key: &'static str) -> Option<&'a Spanned<Node>> {
        self.asked.push(key);
        self.table.value(key)
    }

    /// The value of `key`, if it is given.
    pub(crate) fn given<T: DeserializeOwned>(&mut self, key: &'static str) -> Read<Option<T>> {
        self.ask(key).map(tree::read).transpose()
    }

    /// The value of `key`, or `otherwise`.
    pub(crate) fn or<T: DeserializeOwned>(&mut self, key: &'static str, otherwise: T) -> Read<T> {
        Ok(self.given(key)?.unwrap_or(otherwise))
    }

    /// The value of `key`, which must be there; `mend` says what to write.
    pub(crate) fn required<T: DeserializeOwned>(
        &mut self,
        key: &'static str,
        mend: &'static str,
    ) -> Read<T> {
        let given = self.given(key)?;
        given.ok_or_else(|| self.error(KeyProblem::Missing { key, mend }))
    }

    /// The value of `key`, which every such table has.
    pub(crate) fn field<T: DeserializeOwned>(&mut self, key: &'static str) -> Read<T> {
        let given = self.given(key)?;
        given.ok_or_else(|| self.missing(key))
    }

    /// The value of `key`, if it is given; it must be `valid`, as `must` says in words.
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

    /// Refuses the value of `key` unless it is `valid`.
    pub(crate) fn check(&self, key: &'static str, valid: bool, must: &'static str) -> Read<()> {
        if valid {
            return Ok(());
        }
        Err(self.error_at(key, KeyProblem::OutOfRange { key, must }))
    }

    /// A time above zero.
    pub(crate) fn time_above_zero(
        &mut self,
        key: &'static str,
        otherwise: TimeDelta,
    ) -> Read<TimeDelta> {
        let given = self.valid(key, |time| *time > TimeDelta::ZERO, "longer than zero")?;
        Ok(given.unwrap_or(otherwise))
    }

    /// A number of bytes above zero.
    pub(crate) fn size(&mut self, key: &'static str, otherwise: Bytes) -> Read<Bytes> {
        let given = self.valid(key, |size| *size > Bytes::ZERO, "one byte or more")?;
        Ok(given.unwrap_or(otherwise))
    }

    /// The gain of a controller.
    pub(crate) fn gain(&mut self, key: &'static str, otherwise: f64) -> Read<f64> {
        let must = "a number from 0 to 1000000";
        let given = self.valid(key, |gain| (0.0..=1e6).contains(gain), must)?;
        Ok(given.unwrap_or(otherwise))
    }

    /// A share of the whole, if it is given.
    pub(crate) fn share(&mut self, key: &'static str) -> Read<Option<f64>> {
        let must = "a share between 0 and 1";
        self.valid(key, |share| (0.0..=1.0).contains(share), must)
    }

    /// A number of things.
    pub(crate) fn number<T: DeserializeOwned + PartialOrd>(
        &mut self,
        key: &'static str,
        otherwise: T,
        range: RangeInclusive<T>,
    ) -> Read<T> {
        let must = "one or more, and at most a million";
        let given = self.valid(key, |number| range.contains(number), must)?;
        Ok(given.unwrap_or(otherwise))
    }

    /// The queue's `limit`, in whatever it is stated.
    pub(crate) fn limit(&mut self) -> Read<Option<Limit>> {
        let Some(text) = self.given::<String>("limit")? else {
            return Ok(None);
        };
        match Limit::parse(&text) {
            None => Err(self.error_at("limit", KeyProblem::BadLimit { text })),
            limit => Ok(limit),
        }
    }

    /// The queue's `limit` where it counts packets.
    pub(crate) fn packets(&mut self, otherwise: usize) -> Read<usize> {
        let packets = |text: &str| match Limit::parse(text) {
            Some(Limit::Packets(packets)) => Some(packets),
            _ => None,
        };
        let packets = |text: &str| packets(text).filter(|most| (1..=MOST_PACKETS).contains(most));
        let must = "a number of packets from 1 to a million, e.g. \"1000packets\"";
        Ok(self.parsed("limit", packets, must)?.unwrap_or(otherwise))
    }

    /// The text at `key` as `parse` understands it, if it is given; `must` says what it
    /// understands.
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

    /// What `key` names among `choices`, if it is given.
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

    /// The problem of a `name` at `key` that no `what` has.
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

    /// Refuses two keys of which only one may be given, at the second.
    pub(crate) fn exclusive(&self, one: &'static str, other: &'static str) -> Read<()> {
        if self.table.value(one).is_none() || self.table.value(other).is_none() {
            return Ok(());
        }
        Err(self.error_at(other, KeyProblem::Exclusive { one, other }))
    }

    /// The keys of the table at `key`, if it is given.
    pub(crate) fn table(&mut self, key: &'static str) -> Read<Option<Self>> {
        self.ask(key).map(Self::of_node).transpose()
    }

    /// The queue at `key`, if it is given.
    pub(crate) fn queue(
        &mut self,
        key: &'static str,
        around: &Surroundings<'_>,
    ) -> Read<Option<QueueConfig>> {
        let keys = self.table(key)?;
        keys.map(|keys| QueueConfig::of_keys(keys, around))
            .transpose()
    }

    /// The keys of each table in the list at `key`; no table where it is not given.
    pub(crate) fn tables(&mut self, key: &'static str) -> Read<Vec<Self>> {
        self.list(key)?.iter().map(Self::of_node).collect()
    }

    /// The texts in the list at `key`, with their places; no text where it is not given.
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

    /// Refuses the first key that nobody has asked for.
    pub(crate) fn finish(self) -> Read<()> {
        let is_known =
            |key: &str| self.asked.contains(&key) || (self.kind.is_some() && key == KIND);
        let Some(key) = self.table.keys().find(|key| !is_known(key.get_ref())) else {
            return Ok(());
        };
        let (at, key) = (key.span(), key.get_ref().clone());
        let problem = match self.kind {
            Some(kind) => KeyProblem::KeyNotForQueue {
                key,
                queue: kind.to_owned(),
                known: self.asked.join(", "),
            },
            None => KeyProblem::unknown_field(&key, &self.asked),
        };
        Err(KeyError { at, problem })
    }
}
