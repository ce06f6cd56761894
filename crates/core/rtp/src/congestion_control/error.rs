//! Errors in reports.

/// Why a report could not be read or made: when reading, the report's sender is to blame, when
/// making, the caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CongestionError {
    /// The packet is of another kind.
    #[error(
        "a packet of type {payload_type}, format {format}; congestion control feedback is 205, 11"
    )]
    OtherPacket {
        /// RTCP payload type of the packet.
        payload_type: u8,
        /// Feedback format of the packet.
        format: u8,
    },
    /// The packet is too short for the sender's SSRC and the report's time.
    #[error("congestion control feedback of {length} bytes; it has 8 without any stream")]
    TooShort {
        /// Number of bytes behind the common header.
        length: usize,
    },
    /// The report ends within the header of a stream.
    #[error("congestion control feedback has {left} bytes at byte {at}; 8 begin a stream")]
    HeadMissing {
        /// Offset in bytes of the stream, behind the common header.
        at: usize,
        /// Number of bytes left, without the report's time.
        left: usize,
    },
    /// The stream has fewer packets than it announces.
    #[error(
        "congestion control feedback on {count} packets of stream {ssrc:08x} has {left} bytes for them; 2 are for each, and for an odd one 2 more"
    )]
    MetricsMissing {
        /// SSRC of the stream.
        ssrc: u32,
        /// Number of packets that the stream announces.
        count: u16,
        /// Number of bytes left, without the report's time.
        left: usize,
    },
    /// The caller gave more packets than a report may be about (section 3.1).
    #[error(
        "congestion control feedback on {count} packets of stream {ssrc:08x}; at most 16384 go in a report, so write two"
    )]
    TooMany {
        /// SSRC of the stream.
        ssrc: u32,
        /// Number of packets given.
        count: usize,
    },
}
