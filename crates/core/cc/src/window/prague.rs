//! Prague: draft-briscoe-iccrg-prague-congestion-control (section 2.4), in the form of the L4S
//! team's `udp_prague` (`prague_cc.cpp`); the requirements are those of RFC 9331, section 4.
//!
//! Prague is DCTCP with pacing, and with a virtual round trip of at least 25 ms by which
//! it reduces and grows, so that flows with short round trips do not starve the others.
//!
//! *Deviations*: there is no rate mode for round trips below 2 ms, packets are not made smaller for
//! low rates, pacing does not alternate by 3 %, and queues without L4S are not detected. The
//! reduction for a loss that proves to be reordering is not undone. The estimate of marks stays at
//! one until the first mark, which ends slow start with a halved window.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::window::congestion::{AckSample, Congestion, Stage, initial_window, least_threshold};

/// The estimation gain g of DCTCP (RFC 8257, section 4.2).
const GAIN: f64 = 1.0 / 16.0;
/// The least virtual round trip (`udp_prague`: reference RTT, outside its frame mode).
const REFERENCE_RTT: TimeDelta = TimeDelta::from_millis(25);
/// Factor from the paced window W to the one that bounds the flight (`udp_prague`: W * 1.03 + 1
/// packet).
const WINDOW_ROOM: f64 = 1.03;
/// Growth of the window per virtual round trip once no mark has come for long, as time
/// at the rate (`udp_prague`).
const FAST_GROWTH: TimeDelta = TimeDelta::from_millis(1);
/// Virtual round trips without a mark after which growth is fast, at a rate of zero (`udp_prague`).
const CALM_ROUNDS: f64 = 7.0;
/// Rate, in bytes per second, that adds one to the virtual round trips before growth is fast
/// (`udp_prague`).
const CALM_RATE: f64 = 1.92e6;
/// Length of a burst, as time at the pacing rate (`udp_prague`: burst time).
const BURST_TIME: TimeDelta = TimeDelta::from_micros(250);
/// Slow start paces at twice the window per round trip: Linux
/// `tcp_pacing_ss_ratio`.
const SLOW_START_GAIN: f64 = 2.0;

/// The state of Prague. Windows are in bytes.
#[derive(Clone, Debug)]
pub struct Prague {
    mss: Bytes,
    /// The least virtual round trip.
    reference_rtt: TimeDelta,
    /// The gain of the estimate of marks that belongs to `reference_rtt`.
    gain: f64,
    window: f64,
    /// Slow start goes on while the window is below this threshold.
    threshold: f64,
    /// The estimated fraction of marked bytes, from 0 to 1.
    fraction: f64,
    acked: f64,
    marked: f64,
    period_start: Time,
    /// Bytes delivered when the period of observation began: it goes on until something
    /// sent after that is delivered.
    period_end: Bytes,
    reduced_at: Option<Time>,
    /// Bytes delivered at the last reduction: the next one waits until something sent
    /// after that is delivered.
    reduction_end: Bytes,
    /// Number of virtual round trips since the last one with a mark.
    calm: u32,
    rtt: Option<TimeDelta>,
}

impl Prague {
    /// A fresh state for segments of `mss`.
    #[must_use]
    pub fn new(mss: Bytes) -> Self {
        Self::with_reference_rtt(mss, REFERENCE_RTT)
    }

    /// A fresh state for segments of `mss`, with another least virtual round trip than
    /// 25 ms. In the frame mode of `udp_prague`, that is the frame interval. Marks are
    /// averaged over the same time as with 25 ms (`get_alpha_shift`).
    #[must_use]
    pub fn with_reference_rtt(mss: Bytes, reference_rtt: TimeDelta) -> Self {
        Self {
            mss,
            reference_rtt,
            gain: (GAIN * reference_rtt.ratio(REFERENCE_RTT)).min(1.0),
            window: initial_window(mss).get() as f64,
            threshold: f64::INFINITY,
            fraction: 1.0,
            acked: 0.0,
            marked: 0.0,
            period_start: Time::ZERO,
            period_end: Bytes::ZERO,
            reduced_at: None,
            reduction_end: Bytes::ZERO,
            calm: 0,
            rtt: None,
        }
    }

    /// The estimated fraction of marked bytes, from 0 to 1.
    #[must_use]
    pub const fn fraction(&self) -> f64 {
        self.fraction
    }

    fn is_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    fn virtual_rtt(&self) -> TimeDelta {
        self.rtt
            .map_or(self.reference_rtt, |rtt| rtt.max(self.reference_rtt))
    }

    /// The window per round trip, in bytes per second; zero before the first round trip.
    fn rate(&self) -> f64 {
        self.rtt.map_or(0.0, |rtt| self.window / rtt.as_secs())
    }

    /// Updates the estimate of marks, once per virtual round trip and at most once per real one.
    fn observe(&mut self, now: Time, sample: &AckSample) {
        self.acked += sample.acked.get() as f64;
        self.marked += sample.marked.get() as f64;
        let is_round_over = sample
            .delivery
            .is_some_and(|delivery| delivery.prior_delivered >= self.period_end);
        if !is_round_over || now.since(self.period_start) < self.virtual_rtt() {
            return;
        }
        if self.reduced_at.is_some() && self.acked > 0.0 {
            let marked = (self.marked / self.acked).min(1.0);
            self.fraction += self.gain * (marked - self.fraction);
        }
        self.calm = if self.marked > 0.0 {
            0
        } else {
            self.calm.saturating_add(1)
        };
        self.acked = 0.0;
        self.marked = 0.0;
        self.period_start = now;
        self.period_end = sample.delivered;
    }

    fn react_to_marks(&mut self, now: Time, sample: &AckSample) {
        let is_round_over = sample
            .delivery
            .is_some_and(|delivery| delivery.prior_delivered >= self.reduction_end);
        let is_due = self
            .reduced_at
            .is_none_or(|at| is_round_over && now.since(at) >= self.virtual_rtt());
        if sample.marked == Bytes::ZERO || !is_due || sample.is_reducing {
            return;
        }
        self.reduced_at = Some(now);
        self.reduction_end = sample.delivered;
        self.reduce(1.0 - self.fraction / 2.0);
        self.window = self.threshold;
    }

    fn grow(&mut self, sample: &AckSample) {
        let unmarked = (sample.acked - sample.marked).get() as f64;
        if self.is_slow_start() {
            self.window = (self.window + unmarked).min(self.threshold);
            return;
        }
        let Some(rtt) = sample.smoothed_rtt else {
            return;
        };
        // The ratio of the round trip to the virtual one is squared: once for the rounds
        // in a virtual one, and once for the window, which is smaller by the same ratio.
        let ratio = rtt.ratio(self.virtual_rtt());
        let mss = self.mss.get() as f64;
        let is_calm = f64::from(self.calm) > CALM_ROUNDS + self.rate() / CALM_RATE;
        let increase = if is_calm {
            mss.max(self.rate() * FAST_GROWTH.as_secs())
        } else {
            mss
        };
        self.window += unmarked * increase / self.window * ratio * ratio;
    }

    fn reduce(&mut self, factor: f64) {
        let least = least_threshold(self.mss).get() as f64;
        self.threshold = (self.window * factor).max(least);
    }
}

impl Congestion for Prague {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.rtt = sample.smoothed_rtt;
        self.observe(now, sample);
        self.react_to_marks(now, sample);
        let is_app_limited = sample
            .delivery
            .is_none_or(|delivery| delivery.is_app_limited);
        if !is_app_limited && !sample.is_reducing {
            self.grow(sample);
        }
    }

    fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {
        self.reduce(0.5);
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.reduce(0.5);
        }
        self.window = self.mss.get() as f64;
    }

    fn window(&self) -> Bytes {
        Bytes::from_f64(self.window * WINDOW_ROOM) + self.mss
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let gain = if self.is_slow_start() {
            SLOW_START_GAIN
        } else {
            1.0
        };
        self.rtt
            .map(|rtt| Rate::of(Bytes::from_f64(self.window * gain), rtt))
    }

    fn burst(&self, mss: Bytes, _allowance: Bytes) -> u64 {
        let rate = self.pacing_rate().unwrap_or(Rate::ZERO);
        (rate.amount_in(BURST_TIME).get() / mss.get().max(1)).max(1)
    }

    fn stage(&self) -> Option<Stage> {
        self.is_slow_start().then_some(Stage::Startup)
    }
}
