//! UDP sockets that do not block: [`BatchSocket`] passes several datagrams in one call,
//! [`StampedSocket`] receives each with the kernel's time and its ECN field.
//!
//! One socket cannot do both. The kernel can return several datagrams at once (GRO), but with one
//! time for all, and with more control messages than the library for batches has room for, so that
//! the ECN field is lost.

mod batch;
mod stamped;

pub use batch::{BatchSocket, Received};
pub use stamped::{Stamped, StampedSocket};

/// Most bytes that the system returns at once, in one datagram or several.
pub const LARGEST: usize = 1 << 16;
/// Size of each buffer that the system is asked for: half a second at 50 Mbit/s.
const BUFFER: usize = 3 << 20;
