//! The pacer: when each packet leaves.
//!
//! Mechanism and policy are apart. [`Pacer`] holds the packets and obeys a
//! [`Pacing`](mimosa_facts::Pacing). [`Policy`] says which rule picks that pacing, with which
//! parameters; [`Rule`] is a running policy, which receives the same events as the controller and
//! applies the controller's pacing or its own. Media, retransmissions and probes all leave through
//! the one pacer, and the wait in it is bounded in time and in number.

pub mod ace_n;
mod error;
mod gaps;
mod pacer;
mod policy;
mod probes;
mod rule;
pub mod salsify;
pub mod scream;
mod sliding_min;
pub mod token_bucket;
pub mod webrtc;

pub use error::{ParameterError, PolicyError};
pub use pacer::{Bounds, Pacer, Released};
pub use policy::{NAMES, Policy};
pub use rule::Rule;
