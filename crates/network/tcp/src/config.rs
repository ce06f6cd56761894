//! What a sender is made of, and what it tells of itself.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::application::Application;
use mimosa_cc::window::{Algorithm, EcnUse};

/// What a sender is made of.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// What there is to send.
    pub application: Application,
    /// When the application starts.
    pub start: Time,
    /// The congestion control.
    pub algorithm: Algorithm,
    /// How segments are marked as ECN-capable: usually
    /// [`Algorithm::ecn`], or off.
    pub ecn: EcnUse,
    /// The receiver's window: the most that may be sent and not acknowledged.
    pub receive_window: Bytes,
    /// For the algorithms that roll dice.
    pub seed: u64,
}

impl Default for Config {
    /// A bulk transfer with CUBIC over Ethernet, without ECN.
    fn default() -> Self {
        Self {
            // 1500 bytes less the headers of IPv4 and TCP without options.
            mss: Bytes::new(1460),
            application: Application::Greedy,
            start: Time::ZERO,
            algorithm: Algorithm::Cubic,
            ecn: EcnUse::Off,
            // Twice the product of 1 Gbit/s and 250 ms, so that it does not
            // limit.
            receive_window: Bytes::new(64 << 20),
            seed: 1,
        }
    }
}

/// What a sender has done, for recordings.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Payload acknowledged in order: goodput is its growth over time.
    pub acknowledged: Bytes,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Times that the retransmission timer went off.
    pub timeouts: u64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Reductions of the window for loss, timeouts excluded.
    pub recoveries: u64,
    /// Payload reported as marked.
    pub marked: Bytes,
    /// What may be in flight.
    pub window: Bytes,
    /// What is in flight.
    pub in_flight: Bytes,
    /// Smoothed round trip; `None` before the first.
    pub smoothed_rtt: Option<TimeDelta>,
    /// How fast payload may leave; `None` when it is not paced.
    pub pacing_rate: Option<Rate>,
}
