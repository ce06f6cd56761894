//! What the code refuses.

use crate::reed_solomon::MOST_PACKETS;

/// Why packets were not encoded or decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CodeError {
    /// A block without media packets.
    #[error("the block has no media packets; give it at least one")]
    NoPackets,
    /// More packets than the field has elements.
    #[error(
        "a block of {media} media and {repairs} repair packets is too large; make it of at most \
         {MOST_PACKETS} packets in all"
    )]
    TooManyPackets {
        /// Media packets.
        media: usize,
        /// Repair packets.
        repairs: usize,
    },
    /// A media packet whose length does not fit its prefix.
    #[error("packet {index} has {length} bytes; give it at most 65535")]
    PacketTooLong {
        /// Its place in the block.
        index: usize,
        /// Its length.
        length: usize,
    },
    /// Fewer packets than the block has media packets.
    #[error("{available} of the {needed} packets needed are there; wait for more")]
    TooFew {
        /// Media packets in the block.
        needed: usize,
        /// Packets that are there.
        available: usize,
    },
    /// The same packet twice, or one that no block of so many media packets has.
    #[error("packet {index} is there twice or is none of the block; give each of its packets once")]
    BadIndex {
        /// The place it was said to have.
        index: usize,
    },
    /// A repair packet of another length than the others, or shorter than a media packet.
    #[error("repair packet {index} has {length} bytes, which does not go with the others")]
    BadLength {
        /// Its place in the block.
        index: usize,
        /// Its length.
        length: usize,
    },
    /// A packet came out whose length is none: some packet is not of this block.
    #[error("packet {index} comes out with an impossible length; some packet is of another block")]
    Inconsistent {
        /// The place of the packet that came out.
        index: usize,
    },
}
