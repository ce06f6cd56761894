//! What a queue discipline says of itself, and the table that makes all of them one type.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate};
use toml::Spanned;

use crate::packet::Packet;
use crate::queue::Queue;
use crate::queue::keys::{Keys, Read, Table};

/// What a queue must know beside its own keys.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The rate that a limit in time is judged by: the link's slowest above zero.
    pub slowest: Rate,
    /// Size of the largest packet that comes.
    pub largest: Bytes,
    /// Names of the flows, in order.
    pub flows: &'a [String],
    /// The classes of the link.
    pub classes: Classes<'a>,
}

/// The classes that a queue of classes finds beside its keys.
#[derive(Clone, Copy, Debug)]
pub enum Classes<'a> {
    /// The file has none.
    None,
    /// These tables.
    Given(&'a [Spanned<Table>]),
    /// A queue of classes means nothing for this.
    NotFor(&'static str),
}

/// How a queue discipline is set up: its name, its keys, and the queue that they make.
pub(crate) trait Discipline: Sized {
    /// The `kind` of the queue in files, and the name of its only lane.
    const NAME: &'static str;

    /// Reads the keys. Each must be asked for, since what nobody asks for is refused.
    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self>;

    /// The queue itself; its chances are those of `seed`.
    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>>;

    /// Names of the queues within this one, by their numbers; see [`Queue::lane`].
    fn lanes(&self) -> Vec<String> {
        vec![Self::NAME.to_owned()]
    }
}

/// Declares `QueueConfig` with a variant for each discipline.
macro_rules! disciplines {
    ($($(#[$doc:meta])* $variant:ident($config:ty),)*) => {
        /// Which queue, and how it is set up.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueConfig {
            $($(#[$doc])* $variant($config),)*
        }

        impl QueueConfig {
            /// The kinds of queues by their names in files.
            pub const NAMES: &'static [&'static str] =
                &[$(<$config as Discipline>::NAME),*];

            /// Names of the queues within it, by their numbers; see [`Queue::lane`].
            #[must_use]
            pub fn lanes(&self) -> Vec<String> {
                match self {
                    $(Self::$variant(config) => config.lanes(),)*
                }
            }

            /// The queue itself; its chances are those of `seed`.
            #[must_use]
            pub fn build<P: Packet + Debug + Send + 'static>(
                &self,
                seed: u64,
            ) -> Box<dyn Queue<P>> {
                match self {
                    $(Self::$variant(config) => config.build(seed),)*
                }
            }

            /// The queue of this kind with these keys; `None` if there is no such kind.
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
