//! What can be wrong with a report.

/// Why there is no report: its sender is to blame when it was read, the caller when it was
/// made.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CongestionError {
    /// Another kind of packet.
    #[error(
        "a packet of type {payload_type}, format {format}; congestion control feedback is 205, 11"
    )]
    OtherPacket {
        /// Its type.
        payload_type: u8,
        /// Its format.
        format: u8,
    },
    /// Less than the sender's name and the report's time.
    #[error("congestion control feedback of {length} bytes; it has 8 without any stream")]
    TooShort {
        /// Bytes behind the common header.
        length: usize,
    },
    /// The report ends in what stands before a stream's packets.
    #[error("congestion control feedback has {left} bytes at byte {at}; 8 begin a stream")]
    HeadMissing {
        /// Where the stream begins, behind the common header.
        at: usize,
        /// How much is left, the report's time aside.
        left: usize,
    },
    /// Fewer packets than the stream announces.
    #[error(
        "congestion control feedback on {count} packets of stream {ssrc:08x} has {left} bytes for them; 2 are for each, and for an odd one 2 more"
    )]
    MetricsMissing {
        /// The stream.
        ssrc: u32,
        /// How many packets it announces.
        count: u16,
        /// How much is left, the report's time aside.
        left: usize,
    },
    /// More packets than a report may be about (section 3.1).
    #[error(
        "congestion control feedback on {count} packets of stream {ssrc:08x}; at most 16384 go in a report, so write two"
    )]
    TooMany {
        /// The stream.
        ssrc: u32,
        /// How many packets there are.
        count: usize,
    },
}
