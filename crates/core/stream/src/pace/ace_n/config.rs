//! ACE-N's parameters.

use mimosa_units::{Bytes, TimeDelta};
use serde::Deserialize;

use crate::pace::error::{ParameterError, require};

/// All parameters. `Default` gives the paper's values where it has them. Where it is silent
/// (marked *open*) it gives those of sparkrtc, a published WebRTC with ACE's bucket, or ours.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Tokens come at this multiple of the target. Section 4.1: the rate of the controller, 1.
    pub fill: f64,
    /// The bucket to begin with, in frames of the target's size. *Open*; sparkrtc,
    /// `pacing_controller.cc`: 1.
    pub initial_frames: f64,
    /// The additive step, in packets a round trip. *Open*: 1, as TCP's window grows (RFC 5681,
    /// section 3.1).
    pub step: f64,
    /// The share of the queue just before the last loss that a recovery may use; section 4.1
    /// has it between 0 and 1. *Open*: 0.5, what a loss leaves of the bucket.
    pub alpha: f64,
    /// The queue in packets above which the bucket is reduced. Section 6.5 compares 7.5, 10,
    /// 12.5 and 15 and finds little difference.
    pub threshold: f64,
    /// What counts as one packet. *Open*.
    pub packet: Bytes,
    /// Window of the smallest round trip. Copa, section 2.1: 10 s.
    pub min_rtt_window: TimeDelta,
    /// Window of the standing round trip, in smoothed round trips. Copa, section 2.1: 1/2.
    pub standing_share: f64,
    /// The shortest window of the standing round trip, in frame intervals. *Open*: 1, since a
    /// window without any frame's first packet takes the frame's own packets for a queue that
    /// stands.
    pub standing_frames: f64,
    /// The longest gap between the departures of two packets that left back to back. *Open*: 100
    /// us, several times what a host needs for a packet of a burst.
    pub back_to_back: TimeDelta,
    /// The shortest time from a train's first arrival to its last that tells the capacity.
    /// *Open*: 1 ms, four ticks of WebRTC's feedback; sparkrtc, with arrivals in whole ms: 4 ms.
    pub shortest_train: TimeDelta,
    /// The weight of the newest train in the capacity, 0 to 1. *Open*; sparkrtc,
    /// `delay_based_bwe.cc`: 0.1.
    pub capacity_gain: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            fill: 1.0,
            initial_frames: 1.0,
            step: 1.0,
            alpha: 0.5,
            threshold: 10.0,
            packet: Bytes::new(1_200),
            min_rtt_window: TimeDelta::from_millis(10_000),
            standing_share: 0.5,
            standing_frames: 1.0,
            back_to_back: TimeDelta::from_micros(100),
            shortest_train: TimeDelta::from_millis(1),
            capacity_gain: 0.1,
        }
    }
}

impl Config {
    /// Refuses parameters outside their valid ranges.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
    pub fn check(&self) -> Result<(), ParameterError> {
        let is_count = |count: f64| (0.0..=1e6).contains(&count);
        require(
            (0.01..=1e3).contains(&self.fill),
            "fill",
            "from 0.01 to 1000",
        )?;
        require(
            (0.0..=1e3).contains(&self.initial_frames),
            "initial_frames",
            "from 0 to 1000",
        )?;
        require(is_count(self.step), "step", "from 0 to 1000000 packets")?;
        require(
            self.alpha > 0.0 && self.alpha <= 1.0,
            "alpha",
            "above 0 and at most 1",
        )?;
        require(
            is_count(self.threshold),
            "threshold",
            "from 0 to 1000000 packets",
        )?;
        require(
            (100..=65_535).contains(&self.packet.get()),
            "packet",
            "from 100 B to 65535 B",
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
            (0.0..=100.0).contains(&self.standing_frames),
            "standing_frames",
            "from 0 to 100",
        )?;
        require(
            self.back_to_back >= TimeDelta::ZERO,
            "back_to_back",
            "at least zero",
        )?;
        require(
            self.shortest_train > TimeDelta::ZERO,
            "shortest_train",
            "above zero",
        )?;
        require(
            self.capacity_gain > 0.0 && self.capacity_gain <= 1.0,
            "capacity_gain",
            "above 0 and at most 1",
        )
    }

    /// The size of `count` packets.
    pub(super) fn packets(&self, count: f64) -> Bytes {
        self.packet.scale(count)
    }
}
