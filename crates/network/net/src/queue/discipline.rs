//! The trait that each queue discipline implements, and the macro that makes one type of
//! all disciplines.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate};
use toml::Spanned;

use crate::keys::{Keys, Read, Table};
use crate::packet::Packet;
use crate::queue::Queue;

/// The facts about a link that a queue needs beside its own keys.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The rate by which a limit in time is judged: the link's lowest rate above zero.
    pub slowest: Rate,
    /// Size of the largest packet that the queue gets.
    pub largest: Bytes,
    /// Names of the flows, in the order of the file.
    pub flows: &'a [String],
    /// The classes that the file gives the link.
    pub classes: Classes<'a>,
}

/// The classes that a link has for a queue of classes.
#[derive(Clone, Copy, Debug)]
pub enum Classes<'a> {
    /// The file has no classes.
    None,
    /// The file has these tables, one for each class.
    Given(&'a [Spanned<Table>]),
    /// A queue of classes means nothing here; messages name the place with this text.
    NotFor(&'static str),
}

/// The parameters of a queue discipline: how they are named and read, and the queue that they make.
pub(crate) trait Discipline: Sized {
    /// The `kind` of the queue in files, and the name of its lane where it has only one.
    const NAME: &'static str;

    /// Reads the keys. An implementation must ask for every key that it knows, since the
    /// others are refused.
    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self>;

    /// The queue with these parameters. Its random numbers follow from `seed`.
    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>>;

    /// Names of the queues within this one, in the order of their numbers; see [`Queue::lane`].
    fn lanes(&self) -> Vec<String> {
        vec![Self::NAME.to_owned()]
    }
}

/// Declares `QueueConfig`, with a variant for each discipline.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $variant:ident($config:ty),)*) => {
        /// A queue discipline and its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $($(#[$doc])* $variant($config),)*
        }

        impl QueueConfig {
            /// The names of all kinds of queues in files.
            pub const NAMES: &'static [&'static str] =
                &[$(<$config as Discipline>::NAME),*];

            /// Names of the queues within this one, in the order of their numbers; see
            /// [`Queue::lane`].
            #[must_use]
            pub fn lanes(&self) -> Vec<String> {
                match self {
                    $(Self::$variant(config) => config.lanes(),)*
                }
            }

            /// The queue with these parameters. Its random numbers follow from `seed`.
            #[must_use]
            pub fn build<P: Packet + Debug + Send + 'static>(
                &self,
                seed: u64,
            ) -> Box<dyn Queue<P>> {
                match self {
                    $(Self::$variant(config) => config.build(seed),)*
                }
            }

            /// Reads the queue of this kind with these keys; `None` if there is no such kind.
            fn of_kind(
                kind: &str,
                keys: &mut Keys<'_>,
                around: &Surroundings<'_>,
            ) -> Option<Read<Self>> {
                match kind {
                    $(<$config as Discipline>::NAME => {
                        Some(<$config>::read(keys, around).map(Self::$variant))
                    })*
                    _ => None,
                }
            }
        }
    };
}
pub(super) use disciplines;
