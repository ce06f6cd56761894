//! What a player does: the messages of the channels `input` and `keys`, and the
//! [`Action`](mimosa_facts::Action)s that they mean.
//!
//! A [`Message`] is one message; a [`Tracker`] remembers earlier ones, and finds the actions. A
//! [`Rumble`] is a game's request for a vibration, which the host sends to the page.

mod error;
mod message;
mod rumble;
mod tracker;

pub use error::InputError;
pub use message::{Message, Place, Pointer, Sum};
pub use rumble::Rumble;
pub use tracker::Tracker;
