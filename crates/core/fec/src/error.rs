//! Errors of the code.

use crate::reed_solomon::MOST_PACKETS;

/// Why packets were not encoded or decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// The block has no media packets.
    #[error("the block has no media packets; give it at least one")]
    NoPackets,
    /// The block has more packets than the field has elements.
    #[error(
        "a block of {media} media and {repairs} repair packets is too large; make it of at most \
         {MOST_PACKETS} packets in all"
    )]
    TooManyPackets {
        /// Number of media packets.
        media: usize,
        /// Number of repair packets.
        repairs: usize,
    },
    /// A media packet is too long for its length prefix.
    #[error("packet {index} has {length} bytes; give it at most 65535")]
    PacketTooLong {
        /// Place of the packet in the block.
        index: usize,
        /// Length of the packet in bytes.
        length: usize,
    },
    /// Fewer packets are available than the block has media packets.
    #[error("{available} of the {needed} packets needed are there; wait for more")]
    TooFew {
        /// Number of media packets in the block.
        needed: usize,
        /// Number of packets that are available.
        available: usize,
    },
    /// A packet is there twice, or its place is not one of the block.
    #[error("packet {index} is there twice or is none of the block; give each of its packets once")]
    BadIndex {
        /// The place that was given for the packet.
        index: usize,
    },
    /// A repair packet has another length than the others, or is shorter than a media packet.
    #[error("repair packet {index} has {length} bytes, which does not fit the others")]
    BadLength {
        /// Place of the packet in the block.
        index: usize,
        /// Length of the packet in bytes.
        length: usize,
    },
    /// A decoded packet has an impossible length: some packet belongs to another block.
    #[error("packet {index} comes out with an impossible length; some packet is of another block")]
    Inconsistent {
        /// Place of the decoded packet.
        index: usize,
    },
}
