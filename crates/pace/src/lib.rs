//! The pacer: when each packet leaves.
//!
//! Mechanism and policy are apart. [`Pacer`] holds the packets and obeys a
//! [`Pacing`](mimosa_control::Pacing); [`Policy`] says which pacing applies: the
//! controller's own wish, or another in its place. Media, retransmissions and
//! probes all leave through the one pacer, and what waits in it is bounded in
//! time and in number.

mod pacer;
mod policy;
mod probes;

pub use pacer::{Bounds, Pacer, Released};
pub use policy::Policy;
