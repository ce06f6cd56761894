//! The two ends of the [proxy](mimosa_proxy) as programs.
//!
//! Each end is one thread, which owns all of its sockets and waits in one `poll` for them and for
//! the next packet's time. What the application is told goes to its connections
//! ([`Place`]), to RTCP, and to commands, which another thread runs.

mod commands;
mod error;
mod far;
mod interface;
mod near;
mod peer;
mod refused;
mod wait;

pub use commands::Commands;
pub use error::RelayError;
pub use far::{FarEnd, FarPlaces};
pub use interface::Place;
pub use mimosa_system::random::{bits_32 as random, bytes as random_bytes};
pub use near::{NearEnd, NearPlaces};
pub use wait::{Stop, Stopped, stop};
