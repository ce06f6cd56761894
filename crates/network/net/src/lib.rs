//! A network in virtual time: queues, links, paths and sources.
//!
//! Each delay arises in one place:
//! - a [`queue::Queue`] makes packets wait;
//! - a [`Link`] serialises them, one after the other, at its [`Schedule`]'s rate;
//! - a [`medium`] serves them in its own time where a radio takes the place of a link;
//! - a [`Path`] propagates them, with jitter, loss and reordering.
//!
//! Nothing here owns a clock. Randomness comes from a seeded [`Random`], with one
//! stream for each use, so that a change in one part does not change the random
//! numbers of the others.

mod channel;
mod direction;
mod ip;
mod keys;
mod link;
pub mod medium;
mod packet;
mod path;
pub mod queue;
mod random;
mod schedule;
mod source;
mod ticks;

pub use channel::Channel;
pub use direction::{
    Change, Counts, DelayCount, Delays, Direction, Lane, Monitor, Release, Stamped,
};
pub use ip::{IpPacket, NotIp};
pub use keys::{KeyError, KeyProblem, Table};
pub use link::{Link, Served};
pub use packet::Packet;
pub use path::{Jitter, LossModel, Path, PathConfig, Reordering};
pub use random::Random;
pub use schedule::{Piece, Schedule};
pub use source::{Abr, Encoder, EncoderModel};
pub use ticks::Ticks;
