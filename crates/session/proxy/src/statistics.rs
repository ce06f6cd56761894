//! What both ends count.

use mimosa_stream::EcnState;
use mimosa_units::{Bytes, Rate, TimeDelta};

/// What the near end has counted since it began, and its present state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// RTP packets of the application that were paced, and their bytes without IP and UDP.
    pub paced: Count,
    /// RTP packets of the application that went ahead, and their bytes.
    pub ahead: Count,
    /// RTCP datagrams that passed, in both directions.
    pub rtcp: u64,
    /// Probes that left.
    pub probes: u64,
    /// Datagrams that are neither RTP nor RTCP.
    pub refused: u64,
    /// Copies of earlier packets, which were dropped.
    pub copies: u64,
    /// Packets that were dropped because the queue was too long, or while a keyframe was awaited.
    pub dropped: Count,
    /// Number of times that the queue was too long.
    pub overflows: u64,
    /// Reports of the far end that were read.
    pub reports: u64,
    /// Reports of the far end that could not be read.
    pub bad_reports: u64,
    /// Packets that arrived, by reports.
    pub arrived: u64,
    /// Packets that arrived marked.
    pub marked: u64,
    /// Times that another far end took over.
    pub far_ends: u64,
    /// Bitrates told.
    pub bitrates: u64,
    /// Keyframes asked for.
    pub keyframes: u64,
    /// The controller's target.
    pub target: Rate,
    /// The bitrate that the application was told last; zero before the first.
    pub told: Rate,
    /// The rate at which paced packets come from the application, over the last half second.
    pub rate: Rate,
    /// Bytes that wait until the controller's limits allow them to leave.
    pub waiting: Bytes,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// The controller's measurement of the network's queue, if it has one.
    pub queue_delay: Option<TimeDelta>,
    /// How packets are marked; `None` for a fixed field.
    pub ecn: Option<EcnState>,
    /// The application's streams.
    pub streams: Vec<StreamStatistics>,
}

/// A number of packets, and their bytes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Count {
    /// Number of packets.
    pub packets: u64,
    /// Bytes of the packets.
    pub bytes: u64,
}

impl Count {
    pub(crate) const fn add(&mut self, length: usize) {
        self.packets += 1;
        self.bytes += length as u64;
    }
}

/// One of the application's streams.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StreamStatistics {
    /// SSRC of the stream.
    pub ssrc: u32,
    /// Whether the stream is paced; otherwise it goes ahead.
    pub is_paced: bool,
    /// Packets of the stream, and their bytes.
    pub count: Count,
    /// The stream's rate over the last half second.
    pub rate: Rate,
}

/// What the far end has counted since it began.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FarStatistics {
    /// RTP packets that arrived, and their bytes.
    pub rtp: Count,
    /// RTCP datagrams that passed, in both directions.
    pub rtcp: u64,
    /// Probes that arrived.
    pub probes: u64,
    /// Packets that arrived marked.
    pub marked: u64,
    /// Datagrams that are neither RTP nor RTCP.
    pub refused: u64,
    /// Reports written.
    pub reports: u64,
}
