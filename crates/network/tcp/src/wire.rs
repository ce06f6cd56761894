//! What sender and receiver exchange.
//!
//! Positions are offsets into the stream of bytes, which begins at zero and
//! does not wrap: 64 bits last longer than any simulation.
//!
//! *Deviations* from the wire formats of RFC 9293, 2018, 2883 and 7323: a
//! duplicate (D-SACK) is a flag instead of the first block; the timestamp has
//! nanoseconds; the counts of marks (accurate ECN) are whole, not modulo.

use mimosa_units::{Bytes, Ecn, Time};

/// Number of SACK blocks that fit into an acknowledgement with a timestamp (RFC 2018, section 3).
pub const MAX_BLOCKS: usize = 3;

/// A piece of the stream on its way to the receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Segment {
    /// Offset of the segment's first byte in the stream.
    pub sequence: u64,
    /// Length of the payload; the driver adds headers.
    pub length: Bytes,
    /// The ECN field. A queue that marks the segment sets it to [`Ecn::Ce`].
    pub ecn: Ecn,
    /// Congestion window reduced: the sender has received the echo (RFC 3168, section 6.1.2).
    pub cwr: bool,
    /// Whether the segment was sent before.
    pub is_retransmission: bool,
    /// When the segment was sent, as in the timestamp option.
    pub sent: Time,
}

impl Segment {
    /// Offset of the byte after the segment's last.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.sequence.saturating_add(self.length.get())
    }
}

/// A range of the stream that has arrived after a gap.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Block {
    /// Offset of the range's first byte.
    pub start: u64,
    /// Offset of the byte after the range's last.
    pub end: u64,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Ack {
    /// Offset before which everything has arrived.
    pub cumulative: u64,
    /// Ranges that have arrived after the first gap, the latest change first.
    pub sacks: [Option<Block>; MAX_BLOCKS],
    /// Whether the segment that caused this acknowledgement had arrived before (RFC 2883).
    pub is_duplicate: bool,
    /// Echo of congestion experienced, until the sender answers with
    /// [`Segment::cwr`] (RFC 3168, section 6.1.3).
    pub ece: bool,
    /// Number of segments that arrived marked since the beginning.
    pub ce_segments: u64,
    /// Payload that arrived marked since the beginning.
    pub ce_bytes: Bytes,
    /// [`Segment::sent`] of the segment that caused this acknowledgement, or of the first one if it
    /// covers several.
    pub echo: Time,
}
