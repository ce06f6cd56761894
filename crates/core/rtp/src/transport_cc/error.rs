//! What can be wrong with a report.

/// Why there is no report of arrivals: its sender is to blame when it was read, the
/// caller when it was made.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeedbackError {
    /// Another kind of packet.
    #[error("a packet of type {payload_type}, format {format}; transport-wide feedback is 205, 15")]
    OtherPacket {
        /// Its type.
        payload_type: u8,
        /// Its format.
        format: u8,
    },
    /// Less than what stands before the chunks.
    #[error("transport-wide feedback of {length} bytes; 16 come before the first chunk")]
    TooShort {
        /// Bytes behind the common header.
        length: usize,
    },
    /// A report on no packet.
    #[error("transport-wide feedback on no packet; it covers 1 to 65535")]
    NoStatus,
    /// More packets than a report can count.
    #[error("transport-wide feedback on {count} packets; it covers 1 to 65535")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// The chunks cover fewer packets than the report says.
    #[error("transport-wide feedback on {count} packets has chunks for {covered}")]
    ChunksMissing {
        /// How many packets the report says it covers.
        count: u16,
        /// How many its chunks cover.
        covered: usize,
    },
    /// A run of no packets.
    #[error("an empty run in transport-wide feedback at packet {sequence}; a run has 1 to 8191")]
    EmptyRun {
        /// The packet that it would begin with.
        sequence: u16,
    },
    /// A status that means nothing.
    #[error("status 3 of packet {sequence} in transport-wide feedback; 0, 1 and 2 are known")]
    UnknownStatus {
        /// The packet.
        sequence: u16,
    },
    /// A packet arrived, but not when. So a report is that was asked for without
    /// times, which [`TransportExtension`](super::TransportExtension) never does.
    #[error("transport-wide feedback ends before the time of packet {sequence}")]
    TimeMissing {
        /// The packet.
        sequence: u16,
    },
    /// A packet came so long after, or before, the one that precedes it in the
    /// report that no difference can say it.
    #[error("packet {sequence} came over 8191 ms after or before the last; begin another report")]
    TooFarApart {
        /// The packet.
        sequence: u16,
    },
}
