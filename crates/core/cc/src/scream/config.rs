//! SCReAM v2's parameters: the draft's constants, with the draft's names.

use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

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

/// All parameters of SCReAM v2. Sections are those of draft-ietf-ccwg-rfc8298bis-screamv2-01.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each switches one of the draft's optional parts"
)]
pub struct Config {
    /// Whether marks have the meaning of L4S. `IS_L4S`, 4.2.2. *Open* in the draft how it is set;
    /// by default, the arriving packets decide.
    pub l4s: L4s,
    /// Reference round trip, to which growth and reductions of the window are scaled.
    /// `VIRTUAL_RTT`, 4.2.2: 25 ms.
    pub virtual_rtt: TimeDelta,
    /// Lowest target of the queueing delay. `QDELAY_TARGET_LO`, 4.2.2: 60 ms.
    pub delay_target: TimeDelta,
    /// Highest target of the queueing delay. `QDELAY_TARGET_HI`, 4.2.2: 400 ms.
    pub highest_delay_target: TimeDelta,
    /// Smallest reference window. `MIN_REF_WND`, 4.2.2: 3000 bytes.
    pub min_window: Bytes,
    /// Size of a segment. `MSS`, 4.2.2: 1000 bytes.
    pub segment: Bytes,
    /// Multiple of the largest amount in flight, plus a segment, beyond which the reference window
    /// does not grow. `BYTES_IN_FLIGHT_HEAD_ROOM`, 4.2.2: 1.5.
    pub flight_headroom: f64,
    /// Factor of the reference window at a loss. `BETA_LOSS`, 4.2.2: 0.7.
    pub loss_factor: f64,
    /// Factor of the reference window at a mark of RFC 3168. `BETA_ECN`, 4.2.2: 0.8.
    pub ecn_factor: f64,
    /// Gain of the average share of marks when the share rises. `L4S_AVG_G_UP`, 4.2.1.3: 1/8.
    pub mark_gain_up: f64,
    /// Share of itself by which the average share of marks falls in an update. `L4S_AVG_G_DOWN`,
    /// 4.2.1.3: 1/128.
    pub mark_gain_down: f64,
    /// Shortest time between two updates of the average share of marks, unless a round trip is
    /// shorter. 4.2.1.3: 10 ms.
    pub mark_interval: TimeDelta,
    /// Gain of the average queueing delay when the delay rises. `QDELAY_AVG_G`, 4.2.1.4: 1/4.
    pub delay_gain: f64,
    /// Number of round trips after congestion in which the multiplicative increase returns to its
    /// full size. `POST_CONGESTION_DELAY_RTT`, 4.2.2: 100.
    pub post_congestion_rtts: f64,
    /// Largest multiplicative increase in a round trip, as a share of the reference window.
    /// `MUL_INCREASE_FACTOR`, 4.2.2: 0.02.
    pub multiplicative_increase: f64,
    /// Share of the acknowledged bitrate below which the target is low, so that reductions are
    /// smaller. `ACKED_BITRATE_MARGIN`, 4.2.2: 0.8.
    pub acked_margin: f64,
    /// Factor of the reductions for L4S marks and for delay while the target is low.
    /// `BACKOFF_SCALE_LOW_TARGETRATE`, 4.2.2: 0.25.
    pub low_target_backoff: f64,
    /// Whether a queueing delay that varies slows the window's changes and lowers the data allowed
    /// in flight. `REDUCE_JITTER`, 4.2.1.4: off.
    pub reduce_jitter: bool,
    /// Gain of the averages of the largest and the smallest queueing delay. `QDELAY_MIN_MAX_AVG_G`,
    /// 4.2.1.4: 1/16.
    pub jitter_range_gain: f64,
    /// Gain of the average difference between the largest and the smallest queueing delay.
    /// `QDELAY_DEV_AVG_G`, 4.2.1.4: 1/32.
    pub jitter_gain: f64,
    /// Average difference between the largest and the smallest queueing delay at which
    /// `reduce_jitter` has its full effect. `QDELAY_DEV_THRESHOLD`, 4.2.1.4: 10 ms.
    pub jitter_threshold: TimeDelta,
    /// Window for packets, as a multiple of the reference window, when the queueing delay varies
    /// most. `REF_WND_OVERHEAD_MIN`, 4.3.1: 1.5.
    pub lowest_overhead: f64,
    /// Window for packets, as a multiple of the reference window, when the queueing delay does not
    /// vary, or `reduce_jitter` is off. `REF_WND_OVERHEAD_MAX`, 4.3.1: 3.
    pub highest_overhead: f64,
    /// Lowest target from which the pacing rate is calculated, and the rate of packets sent into
    /// silence. `RATE_PACE_MIN`, 4.3.2: 50 kbit/s.
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
    /// Divisor of the target, to which the terms for a queue in the sender and for large frames are
    /// added. 4.4: 1.2.
    pub rate_margin: f64,
    /// Gain with which the wait in the sender's queue changes the target's divisor.
    /// `RATE_ADJUST_GAIN`, 4.4: 1/16.
    pub rate_adjust_gain: f64,
    /// Gain of the average excess of frames over their nominal size. `FRAME_SIZE_DEV_ALPHA`,
    /// 4.4: 1/64.
    pub frame_size_gain: f64,
    /// Whether the base delay is measured again when the queueing delay is never small. 4.5.1.
    pub clock_drift: bool,
    /// Gain of the average over round trips of the smallest queueing delay. `QDELAY_MIN_AVG_ALPHA`,
    /// 4.5.1: 1/256.
    pub clock_drift_gain: f64,
    /// Whether losses count only when they are many or come with a queue, and a policer is looked
    /// for. 4.5.2 (optional there): off.
    pub loss_policer: bool,
    /// Loss rate, as a share, above which losses are many. A quarter of it bounds the gain of the
    /// loss rate. `LOSS_RATE_THRESHOLD`, 4.2.1.1: 0.01.
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
    /// Whether the delay target rises beside flows that fill queues. 4.5.3 (optional there). *Open*
    /// in the draft; our default is off, because the rule can take the stream's own queue for that
    /// of other flows.
    pub competing_flows: bool,
    /// Time between two samples of the rule for competing flows. *Open* in the draft; our default
    /// is 50 ms, `kQueueDelayFractionHistInterval_us` of `EricssonResearch/scream`.
    pub competing_flows_interval: TimeDelta,
    /// Gain of the smoothed round trip ("similar to RFC 6298", 4.2.1.4): 1/8.
    pub rtt_gain: f64,
    /// Gain of the smoothed round trip while little is in flight (6, "a longer time constant").
    /// *Open* in the draft; our default is 1/128, as in libwebrtc.
    pub idle_rtt_gain: f64,
    /// Share of the reference window below which the amount in flight is little (6, "some margin").
    /// *Open* in the draft; our default is 0.5.
    pub idle_flight: f64,
    /// Length of the window of the smallest one-way delay: 10 min, `BASE_HISTORY` of RFC 6817.
    pub base_delay_window: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            l4s: L4s::Auto,
            virtual_rtt: TimeDelta::from_millis(25),
            delay_target: TimeDelta::from_millis(60),
            highest_delay_target: TimeDelta::from_millis(400),
            min_window: Bytes::new(3_000),
            segment: Bytes::new(1_000),
            flight_headroom: 1.5,
            loss_factor: 0.7,
            ecn_factor: 0.8,
            mark_gain_up: 1.0 / 8.0,
            mark_gain_down: 1.0 / 128.0,
            mark_interval: TimeDelta::from_millis(10),
            delay_gain: 0.25,
            post_congestion_rtts: 100.0,
            multiplicative_increase: 0.02,
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
            rate_adjust_gain: 1.0 / 16.0,
            frame_size_gain: 1.0 / 64.0,
            clock_drift: true,
            clock_drift_gain: 1.0 / 256.0,
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
            ("rate_adjust_gain", self.rate_adjust_gain),
            ("frame_size_gain", self.frame_size_gain),
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
        ] {
            require((1.0..=100.0).contains(&factor), key, "from 1 to 100")?;
        }
        for (key, time) in [
            ("virtual_rtt", self.virtual_rtt),
            ("delay_target", self.delay_target),
            ("mark_interval", self.mark_interval),
            ("jitter_threshold", self.jitter_threshold),
            ("competing_flows_interval", self.competing_flows_interval),
            ("base_delay_window", self.base_delay_window),
        ] {
            require(time > TimeDelta::ZERO, key, "longer than zero seconds")?;
        }
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
        require(
            self.min_window >= self.segment,
            "min_window",
            "at least `segment`",
        )?;
        require(self.lowest_pace > Rate::ZERO, "lowest_pace", "above zero")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_valid_and_nonsense_is_named() {
        assert_eq!(Config::default().check(), Ok(()));
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
                    min_window: Bytes::new(999),
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
