//! What a queue or a link must know of a packet.

use mimosa_units::{Bytes, Ecn};

/// A packet as queues and links see it: a frame of bytes in an emulator, a few
/// numbers in a simulation.
pub trait Packet {
    /// Size on the wire.
    fn size(&self) -> Bytes;
    /// The ECN field.
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field to "congestion experienced".
    fn mark(&mut self);
}

/// A packet of so many bytes, for tests.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sized(pub(crate) u64);

#[cfg(test)]
impl Packet for Sized {
    fn size(&self) -> Bytes {
        Bytes::new(self.0)
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn mark(&mut self) {}
}
