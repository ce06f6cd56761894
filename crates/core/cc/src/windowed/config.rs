//! How a transport's congestion control governs a stream of frames.

use mimosa_units::{Bytes, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters: those of the adapter. The constants of the algorithms stand beside them
/// in `mimosa-tcp`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What counts as one segment. *Open*: the usual packet of a stream.
    pub packet: Bytes,
    /// Whether the encoder follows the pace, and with it the probes for more; else it gets
    /// the bandwidth that the algorithm believes in, where it does. libwebrtc's BBR had the
    /// choice, too (`pacing_rate_as_target`).
    pub follow_pace: bool,
    /// What of that the encoder gets. libwebrtc's BBR, `encoder_rate_gain`: 1. UDP Prague's
    /// frame mode has it as the part of the frame interval in which a frame leaves.
    pub target_share: f64,
    /// Whether a frame is made smaller by what still waits in the pacer. *Open*.
    pub subtract_waiting: bool,
    /// A frame below this part of what it was allowed leaves the sender limited by the
    /// application. *Open*.
    pub full_share: f64,
    /// The timeout doubles up to this. *Open*: RFC 6298, rule 2.5, allows no less than 60 s,
    /// for which no viewer waits.
    pub longest_timeout: TimeDelta,
    /// For the dice of BBR.
    pub seed: u64,
    /// Prague's least virtual round trip. `udp_prague`, reference RTT: 25 ms; in its frame
    /// mode the frame interval.
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
    /// Refuses what means nothing.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
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
