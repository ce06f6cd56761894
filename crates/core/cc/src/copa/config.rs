//! Copa's parameters.

use mimosa_units::{Bytes, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// All parameters. `Default` gives the paper's values where the paper has them, except for
/// `mode_switching`, and ours where it is silent (marked *open*). Pudica's comparison
/// (section 5.1) has `delta` at 0.1.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches a part that the paper or another implementation lacks"
)]
pub struct Config {
    /// Weight of delay against throughput: the controller aims at a queue of 1 / delta packets.
    /// Section 2.2: 0.5. mvfst, `kDefaultLatencyFactor`: 0.05; Pudica, section 5.1: 0.1.
    pub delta: f64,
    /// Whether delta follows losses while other flows fill the queue. Section 2.2 has this
    /// on, Pudica's comparison off. The default is off.
    pub mode_switching: bool,
    /// Length of the window of the smallest round trip. Section 2.1: 10 s.
    pub min_rtt_window: TimeDelta,
    /// Length of the window of the standing round trip, in smoothed round trips. Section 2.1: 1/2.
    pub standing_share: f64,
    /// Number of rounds in the same direction from which on the velocity doubles. Section 2.1: 3.
    pub rounds_before_doubling: u32,
    /// Whether the velocity returns to one as soon as the target is crossed, and not only
    /// at the end of the round. The rule is mvfst's `changeDirection`; the paper has no
    /// such rule. The default is on.
    pub reset_on_turn: bool,
    /// Pacing rate, as a multiple of the window over the standing round trip. Section 2.1: 2.
    pub pace: f64,
    /// Whether the window holds packets back in the pacer. If not, the window only sets the target
    /// and the pacing rate. The paper's sender keeps to its window, and so does ours by default.
    pub window: bool,
    /// Whether a frame is made smaller by the data that still waits in the pacer. *Open*:
    /// the paper has no frames, and Pudica's comparison does not say; our default is true.
    pub subtract_waiting: bool,
    /// Size of one packet of the window. *Open* in the paper; our default is 1200 B.
    pub packet: Bytes,
    /// Multiple of the most data that was in flight lately, beyond which the window does
    /// not grow. *Open* in the paper; our default is 2.
    pub application_headroom: f64,
    /// Time without news of an arrival after which the window is halved, while data is in flight;
    /// it is halved again each time as long. *Open* in the paper; our default is 500 ms.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            delta: 0.5,
            mode_switching: false,
            min_rtt_window: TimeDelta::from_millis(10_000),
            standing_share: 0.5,
            rounds_before_doubling: 3,
            reset_on_turn: true,
            pace: 2.0,
            window: true,
            subtract_waiting: true,
            packet: Bytes::new(1_200),
            application_headroom: 2.0,
            feedback_timeout: TimeDelta::from_millis(500),
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
            (1e-3..=10.0).contains(&self.delta),
            "delta",
            "from 0.001 to 10",
        )?;
        require(
            self.min_rtt_window > TimeDelta::ZERO,
            "min_rtt_window",
            "above zero",
        )?;
        require(
            (0.01..=10.0).contains(&self.standing_share),
            "standing_share",
            "from 0.01 to 10",
        )?;
        require(
            self.rounds_before_doubling > 0,
            "rounds_before_doubling",
            "at least 1",
        )?;
        require((1.0..=1e3).contains(&self.pace), "pace", "from 1 to 1000")?;
        require(
            (100..=65_535).contains(&self.packet.get()),
            "packet",
            "from 100 B to 65535 B",
        )?;
        require(
            (1.0..=1e3).contains(&self.application_headroom),
            "application_headroom",
            "from 1 to 1000",
        )?;
        require(
            self.feedback_timeout > TimeDelta::ZERO,
            "feedback_timeout",
            "above zero",
        )
    }
}
