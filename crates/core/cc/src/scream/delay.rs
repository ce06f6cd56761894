//! The queueing delay, its average, its variation and its target.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use super::config::Config;
use crate::windowed_min::WindowedMin;

/// Number of samples of which the rule for competing flows takes the variance (4.5.4).
const HISTORY: usize = 200;
/// Number of the newest samples of which the rule for competing flows takes the mean (4.5.4).
const SHORT_HISTORY: usize = 50;
/// Gain of the share of round trips with a loss: 0.01, as in `EricssonResearch/scream`.
const LOSS_EVENT_GAIN: f64 = 0.01;
/// Shortest time for which the target is halved to drain the queue (libwebrtc's `UpdateTargetRate`).
const LEAST_DRAIN: TimeDelta = TimeDelta::from_millis(100);

/// Everything that is calculated from one-way delays.
#[derive(Debug)]
pub(super) struct Delays {
    base: WindowedMin,
    base_window: TimeDelta,
    /// Queueing delay of the newest packet, `qdelay`.
    pub(super) newest: TimeDelta,
    /// Average queueing delay, `qdelay_avg`.
    pub(super) average: TimeDelta,
    averaged: Option<Time>,
    /// Averages of the largest and the smallest queueing delay, `qdelay_max_avg` and
    /// `qdelay_min_avg`.
    range: (TimeDelta, TimeDelta),
    deviation: TimeDelta,
    /// Factor for a queueing delay that varies, `ref_wnd_delay_scale`: from 0, where it varies
    /// most, to 1.
    pub(super) scale: f64,
    /// Target of the queueing delay, `qdelay_target`.
    pub(super) target: TimeDelta,
    /// Smallest queueing delay of this round trip, `qdelay_min`; `None` before an arrival.
    round_min: Option<TimeDelta>,
    /// Slow average over round trips of the smallest queueing delay.
    slow_min: TimeDelta,
    /// Smallest queueing delay in the present feedback message; `None` before an arrival.
    message_min: Option<TimeDelta>,
    /// Since when every feedback message had a queue above `drain_threshold`.
    queued_since: Option<Time>,
    /// Since when the target is halved to drain the queue.
    draining_since: Option<Time>,
    /// Queueing delays as multiples of the lowest target, newest first, for the rule for competing
    /// flows.
    history: VecDeque<f64>,
    sampled: Option<Time>,
    loss_events: f64,
}

fn approach(old: TimeDelta, new: TimeDelta, gain: f64) -> TimeDelta {
    old + (new - old).scale(gain)
}

impl Delays {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            base: WindowedMin::new(config.base_delay_window),
            base_window: config.base_delay_window,
            newest: TimeDelta::ZERO,
            average: TimeDelta::ZERO,
            averaged: None,
            range: (config.delay_target, TimeDelta::ZERO),
            deviation: TimeDelta::ZERO,
            scale: 1.0,
            target: config.delay_target,
            round_min: None,
            slow_min: TimeDelta::ZERO,
            message_min: None,
            queued_since: None,
            draining_since: None,
            history: VecDeque::new(),
            sampled: None,
            loss_events: 0.0,
        }
    }

    /// Takes the one-way delay of a packet that arrived, measured by two clocks.
    pub(super) fn arrived(&mut self, now: Time, one_way: TimeDelta) {
        self.base.add(now, one_way);
        let base = self.base.get().unwrap_or(one_way);
        let delay = (one_way - base).max(TimeDelta::ZERO);
        self.newest = delay;
        self.round_min = Some(self.round_min.map_or(delay, |min| min.min(delay)));
        self.message_min = Some(self.message_min.map_or(delay, |min| min.min(delay)));
        let (high, low) = self.range;
        self.range = (high.max(delay).min(self.target), low.min(delay));
    }

    /// Updates the averages after a feedback message, at most once in `interval`.
    pub(super) fn update(&mut self, now: Time, interval: TimeDelta, config: &Config) {
        if self.averaged.is_some_and(|at| now.since(at) < interval) {
            return;
        }
        self.averaged = Some(now);
        self.average = if self.newest < self.average {
            self.newest
        } else {
            approach(self.average, self.newest, config.delay_gain)
        };
        if config.reduce_jitter {
            let (high, low) = self.range;
            let high = approach(high, TimeDelta::ZERO, config.jitter_range_gain);
            let low = approach(low, high, config.jitter_range_gain);
            self.range = (high, low);
            self.deviation = approach(self.deviation, high - low, config.jitter_gain);
            let share = self.deviation.ratio(config.jitter_threshold);
            self.scale = (1.0 - share).clamp(0.0, 1.0);
        }
    }

    /// Ends a round trip. Returns whether the base delay was wrong (4.5.1) and is measured again.
    pub(super) fn round(&mut self, has_loss: bool, config: &Config) -> bool {
        let loss = if has_loss { 1.0 } else { 0.0 };
        self.loss_events += LOSS_EVENT_GAIN * (loss - self.loss_events);
        let Some(min) = self.round_min.take() else {
            return false;
        };
        self.slow_min = approach(self.slow_min, min, config.clock_drift_gain);
        if !config.clock_drift || self.slow_min <= self.target / 4 {
            return false;
        }
        self.slow_min = TimeDelta::ZERO;
        self.base = WindowedMin::new(self.base_window);
        true
    }

    /// Whether the target is halved to drain the queue, after a feedback message (libwebrtc's
    /// `IsQueueDrainedInTime`, `UpdateTargetRate`). A queue that stays although it should be drained is
    /// taken for a wrong base delay, which is measured again.
    pub(super) fn is_draining(&mut self, now: Time, srtt: TimeDelta, config: &Config) -> bool {
        let Some(min) = self.message_min.take() else {
            return self.draining_since.is_some();
        };
        let since = *self.queued_since.get_or_insert(now);
        if min <= config.drain_threshold {
            self.queued_since = None;
        }
        if min <= config.drain_threshold || now.since(since) <= config.drain_period {
            self.draining_since = None;
            return false;
        }
        let since = *self.draining_since.get_or_insert(now);
        if now.since(since) < (srtt * config.drain_rtts).max(LEAST_DRAIN) {
            return true;
        }
        self.base = WindowedMin::new(self.base_window);
        self.queued_since = None;
        self.draining_since = None;
        false
    }

    /// Adjusts the delay target to competing flows (`adjust_qdelay_target`, 4.5.4), at most once in
    /// `competing_flows_interval`.
    pub(super) fn adjust_target(&mut self, now: Time, config: &Config) {
        let interval = config.competing_flows_interval;
        if !config.competing_flows || self.sampled.is_some_and(|at| now.since(at) < interval) {
            return;
        }
        self.sampled = Some(now);
        let low = config.delay_target;
        if self.history.len() == HISTORY {
            self.history.pop_back();
        }
        self.history.push_front(self.newest.ratio(low));
        let mean = |count: usize| {
            let values = self.history.iter().take(count);
            let number = values.len().max(1);
            values.sum::<f64>() / number as f64
        };
        let all = mean(HISTORY);
        let squares: f64 = self.history.iter().map(|x| (x - all) * (x - all)).sum();
        let variance = squares / self.history.len().max(1) as f64;
        let wanted = low.scale(mean(SHORT_HISTORY) + libm::sqrt(variance));
        let target = if self.loss_events > 0.002 {
            wanted.scale(1.5)
        } else if variance < 0.2 {
            wanted
        } else if wanted < low {
            wanted.max(self.target / 2)
        } else {
            self.target.scale(0.9)
        };
        self.target = target.clamp(low, config.highest_delay_target);
    }
}
