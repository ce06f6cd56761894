//! Errors in reports.

/// Why a report could not be read or made: when reading, the report's sender is to blame, when
/// making, the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeedbackError {
    /// The packet is of another kind.
    #[error("a packet of type {payload_type}, format {format}; transport-wide feedback is 205, 15")]
    OtherPacket {
        /// RTCP payload type of the packet.
        payload_type: u8,
        /// Feedback format of the packet.
        format: u8,
    },
    /// The packet is too short for the fields before the chunks.
    #[error("transport-wide feedback of {length} bytes; 16 come before the first chunk")]
    TooShort {
        /// Number of bytes behind the common header.
        length: usize,
    },
    /// The report covers no packet.
    #[error("transport-wide feedback on no packet; it covers 1 to 65535")]
    NoStatus,
    /// The caller gave more packets than a report can count.
    #[error("transport-wide feedback on {count} packets; it covers 1 to 65535")]
    TooMany {
        /// Number of packets given.
        count: usize,
    },
    /// The chunks cover fewer packets than the report says.
    #[error("transport-wide feedback on {count} packets has chunks for {covered}")]
    ChunksMissing {
        /// Number of packets that the report says it covers.
        count: u16,
        /// Number of packets that its chunks cover.
        covered: usize,
    },
    /// A run has no packets.
    #[error("an empty run in transport-wide feedback at packet {sequence}; a run has 1 to 8191")]
    EmptyRun {
        /// Sequence number of the packet at which the run begins.
        sequence: u16,
    },
    /// A packet's status is the reserved value 3.
    #[error("status 3 of packet {sequence} in transport-wide feedback; 0, 1 and 2 are known")]
    UnknownStatus {
        /// Sequence number of the packet.
        sequence: u16,
    },
    /// The report lacks the time of a packet that arrived. Reports without times can be requested,
    /// but [`TransportExtension`](super::TransportExtension) never does so.
    #[error("transport-wide feedback ends before the time of packet {sequence}")]
    TimeMissing {
        /// Sequence number of the packet.
        sequence: u16,
    },
    /// A packet arrived so long before or after the previous one in the report that 16 bits cannot
    /// hold the difference.
    #[error("packet {sequence} came over 8191 ms after or before the last; begin another report")]
    TooFarApart {
        /// Sequence number of the packet.
        sequence: u16,
    },
}
