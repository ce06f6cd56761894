//! GCC's parameters: libwebrtc's constants and the defaults of its field trials.

use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// libwebrtc accepts windows of 10 to 200 groups (`TrendlineEstimatorSettings`).
const WINDOWS: std::ops::RangeInclusive<u32> = 10..=200;

/// All parameters. `Default` gives libwebrtc's values; the name of the constant or of the
/// field trial's key stands at each. What libwebrtc leaves to others is *open*.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Packets sent within this are one group. `kSendTimeGroupLength`: 5 ms.
    pub group_length: TimeDelta,
    /// Packets that arrive this close, closer than they were sent, belong to the group
    /// before. `kBurstDeltaThreshold`: 5 ms.
    pub burst_gap: TimeDelta,
    /// A group grows by such packets for so long. `kMaxBurstDuration`: 100 ms.
    pub longest_burst: TimeDelta,
    /// After a silence of this, delays are measured anew. `kStreamTimeOut`: 2 s.
    pub stream_timeout: TimeDelta,
    /// Share of the old in the smoothed delay. `kDefaultTrendlineSmoothingCoeff`: 0.9.
    pub smoothing: f64,
    /// Groups in the trendline's window. `kDefaultTrendlineWindowSize`: 20.
    pub window: u32,
    /// The window as a time instead of a number of groups. ACE, section 5: 200 ms, for
    /// bursts that make few groups; libwebrtc has none.
    pub window_time: Option<TimeDelta>,
    /// Gain of the slope. `kDefaultTrendlineThresholdGain`: 4.
    pub trend_gain: f64,
    /// First threshold, ms. `threshold_`: 12.5.
    pub threshold: f64,
    /// Lowest threshold, ms. `UpdateThreshold`: 6.
    pub threshold_min: f64,
    /// Highest threshold, ms. `UpdateThreshold`: 600.
    pub threshold_max: f64,
    /// How fast the threshold rises, per ms. `k_up_`: 0.0087.
    pub threshold_up: f64,
    /// How fast it falls, per ms. `k_down_`: 0.039.
    pub threshold_down: f64,
    /// Trends so far above it leave it alone, ms. `kMaxAdaptOffsetMs`: 15.
    pub threshold_spike: f64,
    /// A trend above the threshold is overuse after this. `kOverUsingTimeThreshold`: 10 ms.
    pub overuse_time: TimeDelta,
    /// What overuse leaves of the receiving rate. `kDefaultBackoffFactor`: 0.85.
    pub backoff: f64,
    /// Growth in a second while the capacity is unknown. `MultiplicativeRateIncrease`: 1.08.
    pub growth: f64,
    /// The rate does not grow beyond this multiple of what is acknowledged.
    /// `ChangeBitrate`: 1.5.
    pub headroom: f64,
    /// The same, in addition. `ChangeBitrate`: 10 kbit/s.
    pub headroom_rate: Rate,
    /// An application-limited stream does not grow at all.
    /// `WebRTC-DontIncreaseDelayBasedBweInAlr`: false.
    pub hold_when_limited: bool,
    /// First window of the acknowledged rate. `kInitialRateWindowMs`: 500 ms.
    pub first_rate_window: TimeDelta,
    /// The windows after it. `kRateWindowMs`: 150 ms.
    pub rate_window: TimeDelta,
    /// Whether anything is probed.
    pub probing: bool,
    /// First probe, as a multiple of the first rate. `p1`: 3.
    pub probe_first: f64,
    /// Second probe; zero for none. `p2`: 6.
    pub probe_second: f64,
    /// Further probes, as a multiple of the last result. `step_size`: 2.
    pub probe_further: f64,
    /// Share of the last probe that a result must exceed. `further_probe_threshold`: 0.7.
    pub probe_threshold: f64,
    /// Fewest packets of a probe. `min_probe_packets_sent`: 5.
    pub probe_packets: u16,
    /// Shortest probe. `min_probe_duration`: 15 ms.
    pub probe_duration: TimeDelta,
    /// Size of a probe's packets. *Open*: libwebrtc sends media and padding.
    pub probe_size: Bytes,
    /// Time between probes of an application-limited stream; zero for none.
    /// `alr_interval`: 5 s.
    pub limited_interval: TimeDelta,
    /// Such a probe, as a multiple of the rate. `alr_scale`: 2.
    pub limited_scale: f64,
    /// Share of the rate below which a stream is application-limited.
    /// `bandwidth_usage_ratio`: 0.65.
    pub limited_share: f64,
    /// Unused share of the budget at which the state begins.
    /// `start_budget_level_ratio`: 0.80.
    pub limited_start: f64,
    /// And ends. `stop_budget_level_ratio`: 0.50.
    pub limited_stop: f64,
    /// Whether loss limits the rate (`LossBasedBweV2`).
    pub loss_based: bool,
    /// Observations in the window. `ObservationWindowSize`: 15.
    pub loss_window: u32,
    /// Shortest observation. `ObservationDurationLowerBound`: 250 ms.
    pub loss_observation: TimeDelta,
    /// Loss below which higher rates are preferred.
    /// `LossThresholdOfHighBandwidthPreference`: 0.2.
    pub loss_threshold: f64,
    /// Loss that limits at once, and bound of the inherent loss.
    /// `InstantUpperBoundLossOffset`, `InherentLossUpperBoundOffset`: 0.05.
    pub loss_offset: f64,
    /// Rate over which that bound is relaxed. `InstantUpperBoundBwBalance`,
    /// `InherentLossUpperBoundBwBalance`: 100 kbit/s.
    pub loss_balance: Rate,
    /// Most growth in `loss_growth_window` while loss limits. `MaxIncreaseFactor`: 1.3.
    pub loss_growth: f64,
    /// `DelayedIncreaseWindow`: 300 ms.
    pub loss_growth_window: TimeDelta,
    /// Most of the acknowledged rate while loss limits. `BwRampupUpperBoundFactor`: 1.5.
    pub loss_rampup: f64,
    /// The same after a hold. `BwRampupUpperBoundInHoldFactor`: 1.2.
    pub loss_rampup_in_hold: f64,
    /// Each hold is so much longer than the last. `HoldDurationFactor`: 2.
    pub loss_hold: f64,
    /// Round trips beyond this reduce the rate. `WebRTC-Bwe-MaxRttLimit`, `limit`: 3 s.
    pub rtt_limit: TimeDelta,
    /// To this share, each second. `fraction`, `interval`: 0.8.
    pub rtt_drop: f64,
    /// How much faster than the target packets leave. `kDefaultPaceMultiplier`: 2.5.
    pub pace: f64,
    /// What passes in this time may leave at once: the step of libwebrtc's pacer,
    /// `PacingController::kMinSleepTime`: 5 ms.
    pub pace_step: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            group_length: ms(5),
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
}

/// From one to a thousand: a multiple of a rate.
fn is_multiple(factor: f64) -> bool {
    (1.0..=1e3).contains(&factor)
}

/// Above zero, and below one.
fn is_share(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

impl Config {
    /// Refuses what means nothing.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
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
        // Times the longest step, 100 ms: more than one would leap over the trend.
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
