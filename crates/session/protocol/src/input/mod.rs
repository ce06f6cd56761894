//! What a player does: the messages of the channels `input` and `keys`, and the
//! [`Action`](mimosa_facts::Action)s that they mean.
//!
//! A [`Message`] is what one says, a [`Tracker`] remembers what the last ones said. A
//! [`Rumble`] is what a game answers.

mod error;
mod message;
mod rumble;
mod tracker;

pub use error::InputError;
pub use message::{Message, Place, Pointer, Sum};
pub use rumble::Rumble;
pub use tracker::Tracker;
