//! GCC's parameters: libwebrtc's constants and the defaults of its field trials.

use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// Valid lengths of the trendline's window in groups, as in libwebrtc
/// (`TrendlineEstimatorSettings`).
const WINDOWS: std::ops::RangeInclusive<u32> = 10..=200;

/// A version of GCC: the source of the parameters' values.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Version {
    /// libwebrtc of 2026.
    #[default]
    Libwebrtc,
    /// The increase of G. Carlucci et al., 2017: multiplicative at all times, by 5 %, without an
    /// estimate of the link's capacity, probes and the loss-based estimate of libwebrtc.
    Classic,
}

/// The packet of a group whose departure and arrival are the group's.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum GroupPacket {
    /// A group counts as arrived when its first packet has (ACE, section 5.2).
    First,
    /// A group counts as arrived when its last packet has (libwebrtc's `InterArrivalDelta`:
    /// `send_time`, `complete_time`).
    Last,
}

parameters_by_version! {
    /// All parameters of GCC. `Default` gives libwebrtc's values; each field names libwebrtc's
    /// constant or the key of its field trial. What libwebrtc leaves to others is *open*.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Config {
        /// Which version's values all other parameters have where they are not given.
        pub version: Version,
        /// Time from the departure of a group's first packet within which further packets belong to
        /// the group. `kSendTimeGroupLength`: 5 ms.
        pub group_length: TimeDelta,
        /// The packet of a group whose departure and arrival are compared with those of the group
        /// before. `complete_time` of `InterArrivalDelta`: the last.
        pub group_packet: GroupPacket,
        /// Longest gap between two arrivals of a burst. A packet belongs to the group of the packet
        /// before it if the gap between their arrivals is at most this, and smaller than the gap
        /// between their departures. `kBurstDeltaThreshold`: 5 ms.
        pub burst_gap: TimeDelta,
        /// Time from the arrival of a group's first packet within which packets of a burst belong
        /// to the group. `kMaxBurstDuration`: 100 ms.
        pub longest_burst: TimeDelta,
        /// Time without news of an arrival after which groups and trendline begin anew.
        /// `kStreamTimeOut`: 2 s.
        pub stream_timeout: TimeDelta,
        /// Weight of the old value in the smoothed delay. `kDefaultTrendlineSmoothingCoeff`: 0.9.
        pub smoothing: f64,
        /// Number of groups in the trendline's window. `kDefaultTrendlineWindowSize`: 20.
        pub window: u32,
        /// Length of the trendline's window as a time; `None` for a number of groups, which is the
        /// default. ACE, section 5: 200 ms, for bursts that make few groups; libwebrtc has no such
        /// window.
        pub window_time: Option<TimeDelta>,
        /// Gain of the trendline's slope before the comparison with the threshold.
        /// `kDefaultTrendlineThresholdGain`: 4.
        pub trend_gain: f64,
        /// First threshold of the trend, in ms. `threshold_`: 12.5.
        pub threshold: f64,
        /// Lowest threshold of the trend, in ms. `UpdateThreshold`: 6.
        pub threshold_min: f64,
        /// Highest threshold of the trend, in ms. `UpdateThreshold`: 600.
        pub threshold_max: f64,
        /// Share of its distance to the trend by which the threshold rises in a millisecond.
        /// `k_up_`: 0.0087.
        pub threshold_up: f64,
        /// Share of its distance to the trend by which the threshold falls in a millisecond.
        /// `k_down_`: 0.039.
        pub threshold_down: f64,
        /// Distance above the threshold, in ms, beyond which a trend does not change the threshold.
        /// `kMaxAdaptOffsetMs`: 15.
        pub threshold_spike: f64,
        /// Time after which a trend above the threshold is overuse. `kOverUsingTimeThreshold`: 10
        /// ms.
        pub overuse_time: TimeDelta,
        /// Share of the acknowledged rate that remains after overuse. `kDefaultBackoffFactor`:
        /// 0.85.
        pub backoff: f64,
        /// Factor of growth in a second while the link's capacity is unknown.
        /// `MultiplicativeRateIncrease`: 1.08. Carlucci et al.: 1.05.
        pub growth: f64,
        /// Whether the link's capacity is estimated, and growth near it additive.
        /// `LinkCapacityEstimator`: true.
        pub capacity: bool,
        /// Multiple of the acknowledged rate, plus `headroom_rate`, beyond which the rate does not
        /// grow. `ChangeBitrate`: 1.5.
        pub headroom: f64,
        /// Rate that is added to `headroom` times the acknowledged rate to give the bound of
        /// growth. `ChangeBitrate`: 10 kbit/s.
        pub headroom_rate: Rate,
        /// Whether the rate of an application-limited stream does not grow at all.
        /// `WebRTC-DontIncreaseDelayBasedBweInAlr`: false.
        pub hold_when_limited: bool,
        /// Length of the first window of the acknowledged rate. `kInitialRateWindowMs`: 500 ms.
        pub first_rate_window: TimeDelta,
        /// Length of every later window of the acknowledged rate. `kRateWindowMs`: 150 ms.
        pub rate_window: TimeDelta,
        /// Whether the controller sends probes.
        pub probing: bool,
        /// Rate of the first probe, as a multiple of the first target. `p1`: 3.
        pub probe_first: f64,
        /// Rate of the second probe, as a multiple of the first target; zero for no second probe.
        /// `p2`: 6.
        pub probe_second: f64,
        /// Rate of a further probe, as a multiple of the target after the last one. `step_size`: 2.
        pub probe_further: f64,
        /// Share of the last probe's rate that the target must exceed for a further probe.
        /// `further_probe_threshold`: 0.7.
        pub probe_threshold: f64,
        /// Fewest packets in a group of probes. `min_probe_packets_sent`: 5.
        pub probe_packets: u16,
        /// Shortest duration of a group of probes. `min_probe_duration`: 15 ms.
        pub probe_duration: TimeDelta,
        /// Size of a probe. *Open*: libwebrtc sends media and padding; our default is 1200 B.
        pub probe_size: Bytes,
        /// Time between groups of probes of an application-limited stream; zero for no such probes.
        /// `alr_interval`: 5 s.
        pub limited_interval: TimeDelta,
        /// Rate of a probe of an application-limited stream, as a multiple of the target.
        /// `alr_scale`: 2.
        pub limited_scale: f64,
        /// Share of the target below which a stream is application-limited: the rate of a budget
        /// that sending uses up. `bandwidth_usage_ratio`: 0.65.
        pub limited_share: f64,
        /// Unused share of the budget above which the stream becomes application-limited.
        /// `start_budget_level_ratio`: 0.80.
        pub limited_start: f64,
        /// Unused share of the budget below which the stream is no longer application-limited.
        /// `stop_budget_level_ratio`: 0.50.
        pub limited_stop: f64,
        /// Whether loss limits the rate (`LossBasedBweV2`).
        pub loss_based: bool,
        /// Number of observations of loss in the window. `ObservationWindowSize`: 15.
        pub loss_window: u32,
        /// Shortest duration of an observation of loss. `ObservationDurationLowerBound`: 250 ms.
        pub loss_observation: TimeDelta,
        /// Average loss, as a share, below which higher rates are preferred, and above which lower
        /// ones are. `LossThresholdOfHighBandwidthPreference`: 0.2.
        pub loss_threshold: f64,
        /// Average loss, as a share, above which the rate is bounded at once; also the fixed part
        /// of the inherent loss's upper bound. `InstantUpperBoundLossOffset`,
        /// `InherentLossUpperBoundOffset`: 0.05.
        pub loss_offset: f64,
        /// Rate in two bounds. The bound of the rate is this over the average loss above
        /// `loss_offset`; the bound of the inherent loss is `loss_offset` plus this over the
        /// bandwidth. `InstantUpperBoundBwBalance`, `InherentLossUpperBoundBwBalance`: 100 kbit/s.
        pub loss_balance: Rate,
        /// Largest factor of growth in `loss_growth_window` while loss limits the rate.
        /// `MaxIncreaseFactor`: 1.3.
        pub loss_growth: f64,
        /// Length of the window in which `loss_growth` bounds the growth.
        /// `DelayedIncreaseWindow`: 300 ms.
        pub loss_growth_window: TimeDelta,
        /// Multiple of the acknowledged rate that bounds growth while loss limits the rate.
        /// `BwRampupUpperBoundFactor`: 1.5.
        pub loss_rampup: f64,
        /// Multiple of the acknowledged rate that bounds growth while the acknowledged rate is
        /// close to the rate of the last hold, or below it. `BwRampupUpperBoundInHoldFactor`: 1.2.
        pub loss_rampup_in_hold: f64,
        /// Factor by which each hold of the rate is longer than the last one. `HoldDurationFactor`:
        /// 2.
        pub loss_hold: f64,
        /// Longest round trip that does not reduce the rate. `WebRTC-Bwe-MaxRttLimit`, `limit`: 3
        /// s.
        pub rtt_limit: TimeDelta,
        /// Share of the rate that remains after each reduction for a long round trip, one a second.
        /// `fraction`, `interval`: 0.8.
        pub rtt_drop: f64,
        /// Pacing rate, as a multiple of the target. `kDefaultPaceMultiplier`: 2.5.
        pub pace: f64,
        /// Time whose amount of data, at the pacing rate, may leave at once: the step of
        /// libwebrtc's pacer, `PacingController::kMinSleepTime`: 5 ms.
        pub pace_step: TimeDelta,
    }
}

impl From<Version> for Config {
    fn from(version: Version) -> Self {
        match version {
            Version::Libwebrtc => libwebrtc(),
            Version::Classic => Self {
                version,
                growth: 1.05,
                capacity: false,
                probing: false,
                loss_based: false,
                ..libwebrtc()
            },
        }
    }
}

/// libwebrtc's values.
const fn libwebrtc() -> Config {
    const fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }
    Config {
        version: Version::Libwebrtc,
        group_length: ms(5),
        group_packet: GroupPacket::Last,
        burst_gap: ms(5),
        longest_burst: ms(100),
        stream_timeout: ms(2_000),
        smoothing: 0.9,
        window: 20,
        window_time: None,
        trend_gain: 4.0,
        threshold: 12.5,
        threshold_min: 6.0,
        threshold_max: 600.0,
        threshold_up: 0.0087,
        threshold_down: 0.039,
        threshold_spike: 15.0,
        overuse_time: ms(10),
        backoff: 0.85,
        growth: 1.08,
        capacity: true,
        headroom: 1.5,
        headroom_rate: Rate::from_kbps(10),
        hold_when_limited: false,
        first_rate_window: ms(500),
        rate_window: ms(150),
        probing: true,
        probe_first: 3.0,
        probe_second: 6.0,
        probe_further: 2.0,
        probe_threshold: 0.7,
        probe_packets: 5,
        probe_duration: ms(15),
        probe_size: Bytes::new(1_200),
        limited_interval: ms(5_000),
        limited_scale: 2.0,
        limited_share: 0.65,
        limited_start: 0.8,
        limited_stop: 0.5,
        loss_based: true,
        loss_window: 15,
        loss_observation: ms(250),
        loss_threshold: 0.2,
        loss_offset: 0.05,
        loss_balance: Rate::from_kbps(100),
        loss_growth: 1.3,
        loss_growth_window: ms(300),
        loss_rampup: 1.5,
        loss_rampup_in_hold: 1.2,
        loss_hold: 2.0,
        rtt_limit: ms(3_000),
        rtt_drop: 0.8,
        pace: 2.5,
        pace_step: ms(5),
    }
}

/// Whether `factor` is a valid multiple of a rate: from 1 to 1000.
fn is_multiple(factor: f64) -> bool {
    (1.0..=1e3).contains(&factor)
}

/// Whether `share` is above zero and below one.
fn is_share(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.check_delay()?;
        self.check_rate()?;
        self.check_probes()?;
        self.check_loss()
    }

    fn check_delay(&self) -> Result<(), ParameterError> {
        const SPAN: &str = "above zero";
        const FINITE: &str = "above zero and at most 1000";
        for (key, span) in [
            ("group_length", self.group_length),
            ("stream_timeout", self.stream_timeout),
            ("overuse_time", self.overuse_time),
            ("window_time", self.window_time.unwrap_or(TimeDelta::MAX)),
        ] {
            require(span > TimeDelta::ZERO, key, SPAN)?;
        }
        let is_smoothing = (0.0..1.0).contains(&self.smoothing);
        require(is_smoothing, "smoothing", "from 0 to below 1")?;
        require(WINDOWS.contains(&self.window), "window", "from 10 to 200")?;
        for (key, value) in [
            ("trend_gain", self.trend_gain),
            ("threshold", self.threshold),
            ("threshold_min", self.threshold_min),
            ("threshold_max", self.threshold_max),
            ("threshold_spike", self.threshold_spike),
        ] {
            require(value > 0.0 && value <= 1e3, key, FINITE)?;
        }
        let in_order = self.threshold_min <= self.threshold_max;
        require(in_order, "threshold_min", "at most `threshold_max`")?;
        // A higher `threshold_up` would move the threshold past the trend in the longest step,
        // 100 ms.
        require(
            (0.0..=0.01).contains(&self.threshold_up),
            "threshold_up",
            "from 0 to 0.01",
        )?;
        require(
            (0.0..=0.1).contains(&self.threshold_down),
            "threshold_down",
            "from 0 to 0.1",
        )
    }

    fn check_rate(&self) -> Result<(), ParameterError> {
        const SHARE: &str = "above 0 and below 1";
        const MULTIPLE: &str = "from 1 to 1000";
        require(is_share(self.backoff), "backoff", SHARE)?;
        require(is_share(self.rtt_drop), "rtt_drop", SHARE)?;
        require(
            (1.0..=10.0).contains(&self.growth),
            "growth",
            "from 1 to 10",
        )?;
        require(is_multiple(self.headroom), "headroom", MULTIPLE)?;
        require(is_multiple(self.pace), "pace", MULTIPLE)?;
        for (key, span) in [
            ("first_rate_window", self.first_rate_window),
            ("rate_window", self.rate_window),
            ("rtt_limit", self.rtt_limit),
        ] {
            require(span > TimeDelta::ZERO, key, "above zero")?;
        }
        for (key, share) in [
            ("limited_share", self.limited_share),
            ("limited_start", self.limited_start),
            ("limited_stop", self.limited_stop),
        ] {
            require(is_share(share), key, SHARE)?;
        }
        let in_order = self.limited_stop <= self.limited_start;
        require(in_order, "limited_stop", "at most `limited_start`")
    }

    fn check_probes(&self) -> Result<(), ParameterError> {
        const MULTIPLE: &str = "from 1 to 1000";
        for (key, factor) in [
            ("probe_first", self.probe_first),
            ("probe_further", self.probe_further),
            ("limited_scale", self.limited_scale),
        ] {
            require(is_multiple(factor), key, MULTIPLE)?;
        }
        let is_second = self.probe_second == 0.0 || is_multiple(self.probe_second);
        require(is_second, "probe_second", "zero, or from 1 to 1000")?;
        require(
            is_share(self.probe_threshold),
            "probe_threshold",
            "above 0 and below 1",
        )?;
        let is_count = (2..=100).contains(&self.probe_packets);
        require(is_count, "probe_packets", "from 2 to 100")?;
        let is_duration = self.probe_duration > TimeDelta::ZERO
            && self.probe_duration <= TimeDelta::from_millis(1_000);
        require(is_duration, "probe_duration", "above zero and at most 1 s")?;
        let is_size = (1..=65_000).contains(&self.probe_size.get());
        require(is_size, "probe_size", "from 1 B to 65 kB")
    }

    fn check_loss(&self) -> Result<(), ParameterError> {
        let is_window = (2..=200).contains(&self.loss_window);
        require(is_window, "loss_window", "from 2 to 200")?;
        for (key, span) in [
            ("loss_observation", self.loss_observation),
            ("loss_growth_window", self.loss_growth_window),
        ] {
            require(span > TimeDelta::ZERO, key, "above zero")?;
        }
        require(
            is_share(self.loss_threshold),
            "loss_threshold",
            "above 0 and below 1",
        )?;
        let is_offset = self.loss_offset >= super::loss::LEAST_INHERENT && self.loss_offset < 1.0;
        require(is_offset, "loss_offset", "from 0.001 to below 1")?;
        require(self.loss_balance > Rate::ZERO, "loss_balance", "above zero")?;
        for (key, factor) in [
            ("loss_growth", self.loss_growth),
            ("loss_rampup", self.loss_rampup),
            ("loss_rampup_in_hold", self.loss_rampup_in_hold),
            ("loss_hold", self.loss_hold),
        ] {
            require(is_multiple(factor), key, "from 1 to 1000")?;
        }
        Ok(())
    }
}
