//! The parameters with which a transport's congestion control governs a stream of frames.

use mimosa_units::{Bytes, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters of the adapter. The constants of the algorithms stand beside them in
/// [`window`](crate::window).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Size of one segment of the algorithm. *Open*; our default is 1200 B, the usual packet
    /// of a stream.
    pub packet: Bytes,
    /// Whether the target follows the pacing rate, and with it the probes for more bandwidth. If
    /// not, the target is at most the algorithm's estimate of the bandwidth, if there is one. The
    /// default is true; libwebrtc's BBR had the choice, too (`pacing_rate_as_target`).
    pub follow_pace: bool,
    /// Share of the algorithm's rate that becomes the target, from 0.1 to 1. The default is
    /// 1, as in libwebrtc's BBR (`encoder_rate_gain`). In UDP Prague's frame mode, it is the
    /// part of the frame interval in which a frame leaves.
    pub target_share: f64,
    /// Whether a frame is made smaller by the data that still waits in the pacer. *Open*;
    /// our default is true.
    pub subtract_waiting: bool,
    /// Share of its allowed size, from 0 to 1, below which a frame leaves the sender limited
    /// by the application. *Open*; our default is 0.9.
    pub full_share: f64,
    /// Longest timeout that doubling reaches. *Open*; our default is 1 s. RFC 6298,
    /// rule 2.5, allows no less than 60 s, for which no viewer waits.
    pub longest_timeout: TimeDelta,
    /// Seed of BBR's random numbers. The default is 1.
    pub seed: u64,
    /// Prague's least virtual round trip. The default is 25 ms, the reference RTT of
    /// `udp_prague`; in the frame mode of `udp_prague`, it is the frame interval.
    pub reference_rtt: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            packet: Bytes::new(1_200),
            follow_pace: true,
            target_share: 1.0,
            subtract_waiting: true,
            full_share: 0.9,
            longest_timeout: TimeDelta::from_millis(1_000),
            seed: 1,
            reference_rtt: TimeDelta::from_millis(25),
        }
    }
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        require(
            (100..=65_535).contains(&self.packet.get()),
            "packet",
            "from 100 B to 65535 B",
        )?;
        require(
            (0.1..=1.0).contains(&self.target_share),
            "target_share",
            "from 0.1 to 1",
        )?;
        require(
            (0.0..=1.0).contains(&self.full_share),
            "full_share",
            "from 0 to 1",
        )?;
        require(
            (TimeDelta::from_millis(10)..=TimeDelta::from_millis(120_000))
                .contains(&self.longest_timeout),
            "longest_timeout",
            "from 10 ms to 120 s",
        )?;
        require(
            (TimeDelta::from_millis(1)..=TimeDelta::from_millis(1_000))
                .contains(&self.reference_rtt),
            "reference_rtt",
            "from 1 ms to 1 s",
        )
    }
}
