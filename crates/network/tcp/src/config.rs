//! A sender's configuration and its statistics.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::application::Application;
use mimosa_cc::window::{Algorithm, EcnUse};

/// A sender's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Payload of a full segment.
    pub mss: Bytes,
    /// The application, which decides what there is to send.
    pub application: Application,
    /// When the application starts.
    pub start: Time,
    /// The congestion control algorithm.
    pub algorithm: Algorithm,
    /// How segments are marked as ECN-capable: usually
    /// [`Algorithm::ecn`], or off.
    pub ecn: EcnUse,
    /// The receiver's window: the most that may be sent and not yet acknowledged.
    pub receive_window: Bytes,
    /// Seed of the randomness of algorithms that have any.
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

/// Counts of a sender, and its present state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Statistics {
    /// Payload acknowledged in order. Its growth over time is the goodput.
    pub acknowledged: Bytes,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Times that the retransmission timer expired.
    pub timeouts: u64,
    /// Tail-loss probes sent.
    pub probes: u64,
    /// Reductions of the window because of loss, without timeouts.
    pub recoveries: u64,
    /// Payload that was reported as marked.
    pub marked: Bytes,
    /// The congestion window.
    pub window: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<TimeDelta>,
    /// The rate at which payload may leave; `None` if the algorithm does not pace.
    pub pacing_rate: Option<Rate>,
}
