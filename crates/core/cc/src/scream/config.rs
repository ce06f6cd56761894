//! SCReAM v2's parameters: the draft's constants, with the draft's names. `versions.rs` has the
//! values of other versions.

use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use super::versions::Version;
use crate::parameter::{ParameterError, require};

/// Whether marks have the meaning of L4S.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum L4s {
    /// Marks have the meaning of L4S from the first arrival with ECT(1) until an arrival with
    /// ECT(0).
    #[default]
    Auto,
    /// Marks always have the meaning of L4S.
    On,
    /// Marks never have the meaning of L4S: a mark is one of RFC 3168.
    Off,
}

/// What has to come before the inflection point may be set again.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Inflection {
    /// Any growth of the window since the point was set, also in the feedback message that set it.
    Growth,
    /// A feedback message after which the window is larger than before it.
    NetGrowth,
    /// Nothing.
    Nothing,
}

parameters_by_version! {
    /// All parameters of SCReAM v2, and their values in version -01. Sections are those of
    /// draft-ietf-ccwg-rfc8298bis-screamv2-01.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// Which version's values all other parameters have where they are not given.
        pub version: Version,
        /// Whether marks have the meaning of L4S. `IS_L4S`, 4.2.2. *Open* in the draft how it is
        /// set; by default, the arriving packets decide.
        pub l4s: L4s,
        /// Reference round trip, to which growth and reductions of the window are scaled.
        /// `VIRTUAL_RTT`, 4.2.2: 25 ms.
        pub virtual_rtt: TimeDelta,
        /// Shortest time between two reductions of the window, unless a round trip is shorter.
        /// `VIRTUAL_RTT`, 4.2.2.1: 25 ms.
        pub reaction_interval: TimeDelta,
        /// Whether reductions are divided by the round trip over `virtual_rtt` on longer paths,
        /// where they come more often than once in a round trip. 4.2.2.1: true.
        pub long_path_backoff: bool,
        /// Lowest target of the queueing delay. `QDELAY_TARGET_LO`, 4.2.2: 60 ms.
        pub delay_target: TimeDelta,
        /// Highest target of the queueing delay. `QDELAY_TARGET_HI`, 4.2.2: 400 ms.
        pub highest_delay_target: TimeDelta,
        /// Smallest reference window. `MIN_REF_WND`, 4.2.2: 3000 bytes.
        pub min_window: Bytes,
        /// Size of a segment. `MSS`, 4.2.2: 1000 bytes.
        pub segment: Bytes,
        /// Multiple of the largest amount in flight, plus a segment, beyond which the reference
        /// window does not grow. `BYTES_IN_FLIGHT_HEAD_ROOM`, 4.2.2: 1.5.
        pub flight_headroom: f64,
        /// Factor of the window's relative distance from the inflection point, near which the
        /// window changes slowly: `scl_t *= 8`, 4.2.2.1.
        pub inflection_gain: f64,
        /// What has to come before the inflection point, `ref_wnd_i`, may be set again.
        /// `ref_wnd_i_update_allowed`, 4.2.2.1: growth.
        pub inflection_after: Inflection,
        /// Number of round trips in which the inflection point is set at most once. 4.2.2.1: 0,
        /// which is no such bound.
        pub inflection_rtts: f64,
        /// Number of the newest windows under congestion whose median is the inflection point.
        /// 4.2.2.1: 1.
        pub inflection_median: usize,
        /// Factor of the reference window at a loss. `BETA_LOSS`, 4.2.2: 0.7.
        pub loss_factor: f64,
        /// Factor of the reference window at a mark of RFC 3168. `BETA_ECN`, 4.2.2: 0.8.
        pub ecn_factor: f64,
        /// Gain of the average share of marks when the share rises. `L4S_AVG_G_UP`, 4.2.1.3: 1/8.
        pub mark_gain_up: f64,
        /// Share of itself by which the average share of marks falls in an update.
        /// `L4S_AVG_G_DOWN`, 4.2.1.3: 1/128.
        pub mark_gain_down: f64,
        /// Whether the average share of marks falls towards the newest share, and not towards zero.
        /// 4.2.1.3: false.
        pub mark_falls_to_share: bool,
        /// Average share of marks to which an L4S mark at least sets it when there was no reaction
        /// for 100 round trips; half of it is then the least reduction. 4.2.2.1: 0, which is no
        /// such bound.
        pub stale_share: f64,
        /// Shortest time between two updates of the average share of marks, unless a round trip is
        /// shorter; zero for an update with each feedback message. 4.2.1.3: 10 ms.
        pub mark_interval: TimeDelta,
        /// Gain of the average queueing delay when the delay rises. `QDELAY_AVG_G`, 4.2.1.4: 1/4.
        pub delay_gain: f64,
        /// Number of round trips after congestion in which the multiplicative increase returns to
        /// its full size. `POST_CONGESTION_DELAY_RTT`, 4.2.2: 100.
        pub post_congestion_rtts: f64,
        /// Largest multiplicative increase in a round trip, as a share of the reference window.
        /// `MUL_INCREASE_FACTOR`, 4.2.2: 0.02.
        pub multiplicative_increase: f64,
        /// Exponent of the round trip over `virtual_rtt`, which slows growth on shorter paths.
        /// 4.2.2.2: 1.
        pub short_path_exponent: f64,
        /// Whether the window grows in feedback messages that report congestion to which the window
        /// does not react. 4.2.2.2: true.
        pub grow_under_congestion: bool,
        /// Number of round trips with a loss, nearly in a row, after which losses are congestion;
        /// each loss is at 1 or below. 4.2.2.1: 1.
        pub loss_rtts: f64,
        /// Number of round trips without a loss that cancel as many as `loss_rtts` with one. Not in
        /// the draft; libwebrtc's `LosslessRttsBeforeClear`: 2.
        pub lossless_rtts: f64,
        /// Share of the acknowledged bitrate below which the target is low, so that reductions are
        /// smaller. `ACKED_BITRATE_MARGIN`, 4.5.3: 0.8.
        pub acked_margin: f64,
        /// Factor of the reductions for L4S marks and for delay while the target is low.
        /// `BACKOFF_SCALE_LOW_TARGETRATE`, 4.5.3 (an addition there): 0.25.
        pub low_target_backoff: f64,
        /// Whether a queueing delay that varies slows the window's changes and lowers the data
        /// allowed in flight. `REDUCE_JITTER`, 4.2.1.4: off.
        pub reduce_jitter: bool,
        /// Gain of the averages of the largest and the smallest queueing delay.
        /// `QDELAY_MIN_MAX_AVG_G`, 4.2.1.4: 1/16.
        pub jitter_range_gain: f64,
        /// Gain of the average difference between the largest and the smallest queueing delay.
        /// `QDELAY_DEV_AVG_G`, 4.2.1.4: 1/32.
        pub jitter_gain: f64,
        /// Average difference between the largest and the smallest queueing delay at which
        /// `reduce_jitter` has its full effect. `QDELAY_DEV_THRESHOLD`, 4.2.1.4: 10 ms.
        pub jitter_threshold: TimeDelta,
        /// Window for packets, as a multiple of the reference window, when the queueing delay
        /// varies most. `REF_WND_OVERHEAD_MIN`, 4.3.1: 1.5.
        pub lowest_overhead: f64,
        /// Window for packets, as a multiple of the reference window, when the queueing delay does
        /// not vary, or `reduce_jitter` is off. `REF_WND_OVERHEAD_MAX`, 4.3.1: 3.
        pub highest_overhead: f64,
        /// Lowest target from which the pacing rate is calculated, and the rate of packets sent
        /// into silence. `RATE_PACE_MIN`, 4.3.2: 50 kbit/s.
        pub lowest_pace: Rate,
        /// Pacing rate, as a multiple of the target. `PACKET_PACING_HEADROOM`, 4.3.2: 1.5.
        pub pace_headroom: f64,
        /// Further factor of the pacing rate when the target is at its maximum.
        /// `MAX_RELAXED_PACING_FACTOR`, 4.3.2: 4.
        pub relaxed_pace: f64,
        /// Share of the maximum target above which the further factor of the pacing rate begins to
        /// apply. `RELAXED_PACING_LIMIT_LOW`, 4.3.2: 0.8.
        pub relaxed_from: f64,
        /// Size of a packet's headers. `PACKET_OVERHEAD`, 4.4: 20 bytes.
        pub packet_overhead: Bytes,
        /// Divisor of the target, to which the terms for a queue in the sender and for large frames
        /// are added. 4.4: 1.2.
        pub rate_margin: f64,
        /// Whether the time for which the receiver holds feedback is part of the round trip of
        /// which the target is the window's share. 4.4: false; libwebrtc's `UpdateTargetRate`:
        /// true.
        pub feedback_hold: bool,
        /// Gain of the average time for which the receiver holds feedback. Not in the draft;
        /// libwebrtc's `FeedbackHoldTimeAvgG`: 1/8.
        pub feedback_hold_gain: f64,
        /// Gain with which the wait in the sender's queue changes the target's divisor; zero for a
        /// divisor that stays. `RATE_ADJUST_GAIN`, 4.4: 1/16.
        pub rate_adjust_gain: f64,
        /// Gain of the average excess of frames over their nominal size. `FRAME_SIZE_DEV_ALPHA`,
        /// 4.4: 1/64.
        pub frame_size_gain: f64,
        /// Whether the base delay is measured again when the queueing delay is never small. 4.5.1.
        pub clock_drift: bool,
        /// Gain of the average over round trips of the smallest queueing delay.
        /// `QDELAY_MIN_AVG_ALPHA`, 4.5.1: 1/256.
        pub clock_drift_gain: f64,
        /// Time for which the smallest queueing delays of all feedback messages have to exceed
        /// `drain_threshold` before the target is halved to drain the queue; zero for never. Not in
        /// the draft; libwebrtc's `QDelayDrainPeriod`: 20 s.
        pub drain_period: TimeDelta,
        /// Queueing delay up to which a queue is drained. Not in the draft; libwebrtc's
        /// `QDelayDrainThreshold`: 5 ms.
        pub drain_threshold: TimeDelta,
        /// Number of round trips for which the target is halved to drain the queue; the base delay
        /// is forgotten afterwards. Not in the draft; libwebrtc's `QDelayDrainRtts`: 5.
        pub drain_rtts: u32,
        /// Whether losses count only when they are many or come with a queue, and a policer is
        /// looked for. 4.5.2 (optional there): off.
        pub loss_policer: bool,
        /// Loss rate, as a share, above which losses are many. A quarter of it bounds the gain of
        /// the loss rate. `LOSS_RATE_THRESHOLD`, 4.2.1.1: 0.01.
        pub loss_threshold: f64,
        /// Loss rate, as a share, above which losses without a queue are those of a policer.
        /// `LOSS_RATE_THRESHOLD_POLICER`, 4.5.2: 0.1.
        pub policer_threshold: f64,
        /// Share of the reference window that becomes its upper bound when a policer is found.
        /// `BETA_LOSS_POLICER`, 4.5.2: 0.9.
        pub policer_factor: f64,
        /// Share of itself by which the upper bound behind a policer rises each round trip.
        /// 4.5.2: 0.001.
        pub policer_growth: f64,
        /// Whether the delay target rises beside flows that fill queues. 4.5.4 (optional there).
        /// *Open* in the draft; our default is off, because the rule can take the stream's own
        /// queue for that of other flows.
        pub competing_flows: bool,
        /// Time between two samples of the rule for competing flows. *Open* in the draft; our
        /// default is 50 ms, `kQueueDelayFractionHistInterval_us` of `EricssonResearch/scream`.
        pub competing_flows_interval: TimeDelta,
        /// Gain of the smoothed round trip ("similar to RFC 6298", 4.2.1.4): 1/8.
        pub rtt_gain: f64,
        /// Gain of the smoothed round trip while little is in flight (6, "a longer time constant").
        /// *Open* in the draft; our default is 1/128, as in libwebrtc.
        pub idle_rtt_gain: f64,
        /// Share of the reference window below which the amount in flight is little (6, "some
        /// margin"). *Open* in the draft; our default is 0.5.
        pub idle_flight: f64,
        /// Length of the window of the smallest one-way delay: 10 min, `BASE_HISTORY` of RFC 6817.
        pub base_delay_window: TimeDelta,
    }
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        // Every condition is false for NaN, so that NaN fails too.
        for (key, gain) in [
            ("mark_gain_up", self.mark_gain_up),
            ("mark_gain_down", self.mark_gain_down),
            ("delay_gain", self.delay_gain),
            ("jitter_range_gain", self.jitter_range_gain),
            ("jitter_gain", self.jitter_gain),
            ("feedback_hold_gain", self.feedback_hold_gain),
            ("clock_drift_gain", self.clock_drift_gain),
            ("rtt_gain", self.rtt_gain),
            ("idle_rtt_gain", self.idle_rtt_gain),
            ("loss_threshold", self.loss_threshold),
            ("policer_threshold", self.policer_threshold),
            ("policer_factor", self.policer_factor),
            ("loss_factor", self.loss_factor),
            ("ecn_factor", self.ecn_factor),
        ] {
            require(gain > 0.0 && gain <= 1.0, key, "above zero and at most one")?;
        }
        for (key, share) in [
            ("stale_share", self.stale_share),
            ("rate_adjust_gain", self.rate_adjust_gain),
            ("frame_size_gain", self.frame_size_gain),
            ("acked_margin", self.acked_margin),
            ("low_target_backoff", self.low_target_backoff),
            ("multiplicative_increase", self.multiplicative_increase),
            ("policer_growth", self.policer_growth),
            ("idle_flight", self.idle_flight),
        ] {
            require((0.0..=1.0).contains(&share), key, "from zero to one")?;
        }
        for (key, factor) in [
            ("flight_headroom", self.flight_headroom),
            ("lowest_overhead", self.lowest_overhead),
            ("highest_overhead", self.highest_overhead),
            ("pace_headroom", self.pace_headroom),
            ("relaxed_pace", self.relaxed_pace),
            ("rate_margin", self.rate_margin),
            ("loss_rtts", self.loss_rtts),
            ("lossless_rtts", self.lossless_rtts),
            ("inflection_gain", self.inflection_gain),
        ] {
            require((1.0..=100.0).contains(&factor), key, "from 1 to 100")?;
        }
        for (key, time) in [
            ("virtual_rtt", self.virtual_rtt),
            ("reaction_interval", self.reaction_interval),
            ("delay_target", self.delay_target),
            ("drain_threshold", self.drain_threshold),
            ("jitter_threshold", self.jitter_threshold),
            ("competing_flows_interval", self.competing_flows_interval),
            ("base_delay_window", self.base_delay_window),
        ] {
            require(time > TimeDelta::ZERO, key, "longer than zero seconds")?;
        }
        self.check_single()
    }

    /// Checks the parameters that have bounds of their own.
    fn check_single(&self) -> Result<(), ParameterError> {
        require(
            self.highest_delay_target >= self.delay_target,
            "highest_delay_target",
            "at least `delay_target`",
        )?;
        require(
            self.highest_overhead >= self.lowest_overhead,
            "highest_overhead",
            "at least `lowest_overhead`",
        )?;
        require(
            (0.0..1.0).contains(&self.relaxed_from),
            "relaxed_from",
            "at least zero and below one",
        )?;
        require(
            (1.0..=1e6).contains(&self.post_congestion_rtts),
            "post_congestion_rtts",
            "from 1 to 1000000",
        )?;
        require(
            self.segment > Bytes::ZERO && self.segment <= Bytes::new(65_535),
            "segment",
            "from 1 to 65535 bytes",
        )?;
        require(self.min_window > Bytes::ZERO, "min_window", "above zero")?;
        for (key, time) in [
            ("mark_interval", self.mark_interval),
            ("drain_period", self.drain_period),
        ] {
            require(time >= TimeDelta::ZERO, key, "zero or longer")?;
        }
        require(
            (0.0..=1e6).contains(&self.inflection_rtts),
            "inflection_rtts",
            "from 0 to 1000000",
        )?;
        require(
            (1..=99).contains(&self.inflection_median),
            "inflection_median",
            "from 1 to 99",
        )?;
        require(
            (0.0..=4.0).contains(&self.short_path_exponent),
            "short_path_exponent",
            "from 0 to 4",
        )?;
        require(
            (1..=1_000).contains(&self.drain_rtts),
            "drain_rtts",
            "from 1 to 1000",
        )?;
        require(self.lowest_pace > Rate::ZERO, "lowest_pace", "above zero")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_nonsense_is_named() {
        for version in [Version::V01, Version::V2024, Version::Libwebrtc] {
            assert_eq!(Config::from(version).check(), Ok(()), "{version:?}");
        }
        let wrong = [
            (
                "loss_factor",
                Config {
                    loss_factor: f64::NAN,
                    ..Config::default()
                },
            ),
            (
                "min_window",
                Config {
                    min_window: Bytes::ZERO,
                    ..Config::default()
                },
            ),
            (
                "highest_overhead",
                Config {
                    highest_overhead: 1.4,
                    ..Config::default()
                },
            ),
        ];
        for (key, config) in wrong {
            assert_eq!(config.check().unwrap_err().key, key);
        }
    }
}
