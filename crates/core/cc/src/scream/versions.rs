//! The values of the parameters in each version of SCReAM v2. `docs/algorithms/scream.md` has them as
//! a table.

use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use super::config::{Config, Inflection, L4s};

/// A version of SCReAM v2: the source of the parameters' values.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
pub enum Version {
    /// draft-ietf-ccwg-rfc8298bis-screamv2-01.
    #[default]
    #[serde(rename = "01")]
    V01,
    /// draft-johansson-ccwg-rfc8298bis-screamv2-00 of March 2024, with the constants of
    /// `EricssonResearch/scream` of October 2024 where the two differ.
    #[serde(rename = "2024")]
    V2024,
    /// libwebrtc, `modules/congestion_controller/scream`.
    #[serde(rename = "libwebrtc")]
    Libwebrtc,
}

impl From<Version> for Config {
    fn from(version: Version) -> Self {
        match version {
            Version::V01 => draft_01(),
            Version::V2024 => of_2024(),
            Version::Libwebrtc => libwebrtc(),
        }
    }
}

/// The values of draft -01; `config.rs` names the section of each.
const fn draft_01() -> Config {
    Config {
        version: Version::V01,
        l4s: L4s::Auto,
        virtual_rtt: TimeDelta::from_millis(25),
        reaction_interval: TimeDelta::from_millis(25),
        long_path_backoff: true,
        delay_target: TimeDelta::from_millis(60),
        highest_delay_target: TimeDelta::from_millis(400),
        min_window: Bytes::new(3_000),
        segment: Bytes::new(1_000),
        flight_headroom: 1.5,
        inflection_gain: 8.0,
        inflection_after: Inflection::Growth,
        inflection_rtts: 0.0,
        inflection_median: 1,
        loss_factor: 0.7,
        ecn_factor: 0.8,
        mark_gain_up: 1.0 / 8.0,
        mark_gain_down: 1.0 / 128.0,
        mark_falls_to_share: false,
        stale_share: 0.0,
        mark_interval: TimeDelta::from_millis(10),
        delay_gain: 0.25,
        post_congestion_rtts: 100.0,
        multiplicative_increase: 0.02,
        short_path_exponent: 1.0,
        grow_under_congestion: true,
        loss_rtts: 1.0,
        lossless_rtts: 2.0,
        acked_margin: 0.8,
        low_target_backoff: 0.25,
        reduce_jitter: false,
        jitter_range_gain: 1.0 / 16.0,
        jitter_gain: 1.0 / 32.0,
        jitter_threshold: TimeDelta::from_millis(10),
        lowest_overhead: 1.5,
        highest_overhead: 3.0,
        lowest_pace: Rate::from_kbps(50),
        pace_headroom: 1.5,
        relaxed_pace: 4.0,
        relaxed_from: 0.8,
        packet_overhead: Bytes::new(20),
        rate_margin: 1.2,
        feedback_hold: false,
        feedback_hold_gain: 1.0 / 8.0,
        rate_adjust_gain: 1.0 / 16.0,
        frame_size_gain: 1.0 / 64.0,
        clock_drift: true,
        clock_drift_gain: 1.0 / 256.0,
        drain_period: TimeDelta::ZERO,
        drain_threshold: TimeDelta::from_millis(5),
        drain_rtts: 5,
        loss_policer: false,
        loss_threshold: 0.01,
        policer_threshold: 0.1,
        policer_factor: 0.9,
        policer_growth: 0.001,
        competing_flows: false,
        competing_flows_interval: TimeDelta::from_millis(50),
        rtt_gain: 1.0 / 8.0,
        idle_rtt_gain: 1.0 / 128.0,
        idle_flight: 0.5,
        base_delay_window: TimeDelta::from_millis(600_000),
    }
}

/// The values of 2024. *D* is the draft of March 2024, *C* the code of October 2024
/// (`ScreamV2Tx.cpp` with the defaults of `scream_sender.cpp`), *R* `test-record.md`.
fn of_2024() -> Config {
    Config {
        version: Version::V2024,
        // C: at most once in 30 ms or a round trip (D: in a round trip), whatever the round trip.
        reaction_interval: TimeDelta::from_millis(30),
        long_path_backoff: false,
        // D: `QDELAY_TARGET_LO`.
        delay_target: TimeDelta::from_millis(100),
        // R: packets of 1360 bytes; C: the largest packet (D: 1000 bytes).
        segment: Bytes::new(1_360),
        min_window: Bytes::new(3_000),
        // D, C: `BYTES_IN_FLIGHT_HEAD_ROOM`.
        flight_headroom: 2.0,
        // D, C: `scl_t *= 4`. C: at most once in a round trip (D: in 0.25 s), the median of some
        // windows. How many is in a header that was not at hand; five is our choice.
        inflection_gain: 4.0,
        inflection_after: Inflection::Nothing,
        inflection_rtts: 1.0,
        inflection_median: 5,
        // D: `L4S_AVG_G`, both ways (C and R: 1/32).
        mark_gain_up: 1.0 / 16.0,
        mark_gain_down: 1.0 / 16.0,
        mark_falls_to_share: true,
        // D, C: `l4sAlpha = 0.25` and `max(backoff_t, 0.25)` (after 5 s).
        stale_share: 0.25,
        // D: `POST_CONGESTION_DELAY`, 4 s, in round trips of `virtual_rtt`.
        post_congestion_rtts: 160.0,
        // C: 0.05 (D: 0.02).
        multiplicative_increase: 0.05,
        // Neither D nor C has the rules of -01's sections 4.5.1 and 4.5.3, nor 4.4's for the
        // sender's queue.
        low_target_backoff: 1.0,
        rate_adjust_gain: 0.0,
        clock_drift: false,
        // D: `CWND_OVERHEAD`, and no relaxed pacing.
        lowest_overhead: 1.5,
        highest_overhead: 1.5,
        relaxed_pace: 1.0,
        // D, C: `rel_framesize_high`, which is 1 for frames of one size.
        rate_margin: 1.0,
        ..draft_01()
    }
}

/// libwebrtc's values: `scream_v2_parameters.cc`, and the rules of `scream_v2.cc`.
fn libwebrtc() -> Config {
    Config {
        version: Version::Libwebrtc,
        // There is no answer to a mark of RFC 3168.
        l4s: L4s::On,
        // `MinRefWindow`, `MaxSegmentSize`, `BytesInFlightHeadRoom`.
        min_window: Bytes::new(1_000),
        segment: Bytes::new(1_280),
        flight_headroom: 1.1,
        // `BackoffScaleFactorCloseToRefWindowI`, `allow_ref_window_i_update_`.
        inflection_gain: 2.0,
        inflection_after: Inflection::NetGrowth,
        // `UpdateL4SAlpha`: with each feedback message.
        mark_interval: TimeDelta::ZERO,
        // `UpdateRefWindow`: `rtt_ratio * rtt_ratio`.
        short_path_exponent: 2.0,
        grow_under_congestion: false,
        // `RttsWithLossBeforeBackoff`.
        loss_rtts: 3.0,
        // `PacingFactor`; there is no relaxed pacing.
        pace_headroom: 1.1,
        relaxed_pace: 1.0,
        // `UpdateTargetRate`.
        packet_overhead: Bytes::ZERO,
        rate_margin: 1.0,
        feedback_hold: true,
        rate_adjust_gain: 0.0,
        frame_size_gain: 0.0,
        low_target_backoff: 1.0,
        // `IsQueueDrainedInTime` in place of 4.5.1.
        clock_drift: false,
        drain_period: TimeDelta::from_millis(20_000),
        ..draft_01()
    }
}
