//! BBR version 3: draft-ietf-ccwg-bbr, editors' copy after -06 (commit
//! 007dbe1 of its repository); section numbers are those of -06.
//!
//! ```text
//! Startup -> Drain -> Down -> Cruise -> Refill -> Up -> Down ...
//! ```
//!
//! Unlike [version 1](crate::window::bbr1), version 3 bounds the flight when packets
//! are lost: over the long term by the flight at which losses passed two percent while
//! probing, over the short term by the amount that a lossy round delivered.
//!
//! *Deviations*: a recovery that proves spurious is not undone, since the sender does not detect
//! it. A delivery rate in `ProbeRtt` is not marked as limited by the application, but left out
//! unless it is the greatest. Runs of lost segments are counted once per acknowledgement that tells
//! of loss. Marks are ignored, as in the draft.

mod model;
mod probing;

use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::window::burst::{LEAST_SEGMENTS as LEAST_BURST, burst_segments};
use crate::window::congestion::{
    AckSample, Congestion, LostSegment, Rounds, Stage, initial_window,
};
use crate::window::filter::WindowedMax;
use model::{Aggregation, FullPipe, ShortTerm};
use probing::{Cycle, Feedback, is_too_high};

/// The constants and rules that differ between versions 2 and 3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version {
    pub(crate) startup_gain: f64,
    pub(crate) startup_window_gain: f64,
    pub(crate) drain_gain: f64,
    pub(crate) down_gain: f64,
    pub(crate) up_window_gain: f64,
    /// Number of acknowledgements in a round that have to tell of losses before losses end startup.
    pub(crate) startup_loss_events: u32,
    /// How long a least round trip is believed before `ProbeRtt` measures it again.
    pub(crate) probe_rtt_interval: TimeDelta,
    pub(crate) probing: Probing,
}

/// The rule that ends `Up`, if losses do not end it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Probing {
    /// `Up` ends when a quarter more than the product of rate and round trip is in
    /// flight (version 2).
    UntilInFlight,
    /// `Up` ends when the rate no longer rises (version 3, section 5.3.3).
    UntilPlateau,
}

/// The constants of BBR version 3, and its rule for the end of a probe.
pub(crate) const VERSION: Version = Version {
    // 4 ln 2 (section 5.3.1).
    startup_gain: 2.77,
    startup_window_gain: WINDOW_GAIN,
    // Section 5.3.2.
    drain_gain: 0.5,
    // Section 5.3.3.
    down_gain: 0.90,
    // Section 5.3.3.
    up_window_gain: 2.25,
    // `BBRStartupFullLossCnt` (section 5.3.1).
    startup_loss_events: 6,
    // `MinRTTFilterLen` and `ProbeRTTInterval`, which are one (section 5.3.4).
    probe_rtt_interval: TimeDelta::from_millis(10_000),
    probing: Probing::UntilPlateau,
};

/// Window gain in most states: `DefaultCwndGain` (section 5.3.1).
const WINDOW_GAIN: f64 = 2.0;
/// Pacing gain in `Up` (section 5.3.3).
const UP_GAIN: f64 = 1.25;
/// Window gain in `ProbeRtt`: `ProbeRTTCwndGain` (section 2.16).
const PROBE_RTT_GAIN: f64 = 0.5;
/// How long `ProbeRtt` keeps the flight small: `ProbeRTTDuration` (section 2.16).
const PROBE_RTT_TIME: TimeDelta = TimeDelta::from_millis(200);
/// Share of the flight above which losses in a round are too many: `LossThresh` (section 2.8).
const LOSS_THRESHOLD: f64 = 0.02;
/// Share of the long-term bound that is left for others while cruising: `Headroom` (section 2.8).
const HEADROOM: f64 = 0.15;
/// The smallest window except after a timeout, in segments: `MinPipeCwnd` (section 2.8).
const LEAST_SEGMENTS: u64 = 4;
/// Factor that keeps the pacing rate one percent below the estimate:
/// `PacingMarginPercent` (section 2.5).
const MARGIN: f64 = 0.99;
/// Cycles whose greatest delivery rate counts: `MaxBwFilterLen` (section 2.11).
const RATE_CYCLES: u64 = 2;
/// Rounds after which `Drain` ends even if the queue is not gone (section 5.3.2).
const DRAIN_ROUNDS: u64 = 3;
/// Bursts that segmentation offload may hold (section 5.6.4).
const OFFLOAD_BURSTS: u64 = 3;
/// Segments added to the flight in `Up` (section 5.6.4).
const UP_SEGMENTS: u64 = 2;
/// Rate below which a burst may be one segment (section 5.6.3).
const BURST_RATE: Rate = Rate::from_kbps(1_200);
/// Round trip assumed before the first sample (section 5.6.2).
const FIRST_RTT: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The state of BBR version 3 (or 2).
#[derive(Clone, Debug)]
pub struct Bbr3 {
    version: &'static Version,
    mss: Bytes,
    state: State,
    window: Bytes,
    /// The window before recovery or `ProbeRtt`.
    prior_window: Bytes,
    pacing_rate: Rate,
    has_rtt: bool,
    rate: WindowedMax<Rate>,
    cycles: u64,
    rounds: Rounds,
    drain_round: u64,
    least_rtt: Option<TimeDelta>,
    least_rtt_at: Time,
    probe_rtt_window: Bytes,
    /// When `ProbeRtt` may end, and whether a round has passed in it; `None` until the
    /// flight is small enough.
    probe_rtt: Option<(Time, bool)>,
    /// The long-term bound of the flight: `inflight_longterm`.
    long_term: Bytes,
    short_term: ShortTerm,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    cycle: Cycle,
    is_recovering: bool,
    is_restarting: bool,
    dice: SplitMix,
}

impl Bbr3 {
    /// A fresh state of `version` for segments of `mss`; `seed` chooses the waits between probes.
    #[must_use]
    pub(crate) fn new(mss: Bytes, seed: u64, version: &'static Version) -> Self {
        let window = initial_window(mss);
        Self {
            version,
            mss,
            state: State::Startup,
            window,
            prior_window: Bytes::ZERO,
            pacing_rate: Rate::of(window, FIRST_RTT).scale(version.startup_gain),
            has_rtt: false,
            rate: WindowedMax::new(RATE_CYCLES),
            cycles: 0,
            rounds: Rounds::default(),
            drain_round: 0,
            least_rtt: None,
            least_rtt_at: Time::ZERO,
            probe_rtt_window: Bytes::MAX,
            probe_rtt: None,
            long_term: Bytes::MAX,
            short_term: ShortTerm::new(),
            full_pipe: FullPipe::default(),
            aggregation: Aggregation::new(),
            cycle: Cycle::new(),
            is_recovering: false,
            is_restarting: false,
            dice: SplitMix::new(seed),
        }
    }

    fn most_rate(&self) -> Rate {
        self.rate.get().unwrap_or(Rate::ZERO)
    }

    /// The estimated bandwidth: `BBR.bw`.
    fn bandwidth(&self) -> Rate {
        self.most_rate().min(self.short_term.rate)
    }

    fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.get().saturating_mul(count))
    }

    fn least_window(&self) -> Bytes {
        self.segments(LEAST_SEGMENTS)
    }

    /// `gain` times the product of `rate` and the least round trip: `BDPMultiple`. The
    /// initial window before there is a round trip.
    fn product(&self, rate: Rate, gain: f64) -> Bytes {
        self.least_rtt.map_or(initial_window(self.mss), |rtt| {
            rate.amount_in(rtt).scale(gain)
        })
    }

    /// `in_flight`, but at least the bursts of the offload and the smallest window,
    /// and more in `Up`: `QuantizationBudget`.
    fn with_budget(&self, in_flight: Bytes) -> Bytes {
        let burst = self.burst(self.mss, Bytes::ZERO);
        let least = self.segments(OFFLOAD_BURSTS * burst);
        let least = least.max(self.least_window());
        let more = if self.state == State::Up {
            self.segments(UP_SEGMENTS)
        } else {
            Bytes::ZERO
        };
        in_flight.max(least) + more
    }

    /// The long-term bound of the flight less the headroom for others: `InflightWithHeadroom`.
    fn with_headroom(&self) -> Bytes {
        if self.long_term == Bytes::MAX {
            return Bytes::MAX;
        }
        let headroom = self.long_term.scale(HEADROOM).max(self.mss);
        (self.long_term - headroom).max(self.least_window())
    }

    /// The product of bandwidth and round trip, at most the window: `TargetInflight`.
    fn target(&self) -> Bytes {
        self.product(self.bandwidth(), 1.0).min(self.window)
    }

    const fn is_in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    const fn is_probing(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    const fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (self.version.startup_gain, self.version.startup_window_gain),
            State::Drain => (self.version.drain_gain, self.version.startup_window_gain),
            State::Down => (self.version.down_gain, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (UP_GAIN, self.version.up_window_gain),
            State::ProbeRtt => (1.0, PROBE_RTT_GAIN),
        }
    }

    /// Takes the delivery rate of a sample: `UpdateMaxBw`. Returns whether a round begins.
    fn update_rate(&mut self, sample: &AckSample) -> bool {
        let begins = self.rounds.update(sample);
        self.cycle.rounds_since_up += u64::from(begins);
        if let Some(delivery) = sample.delivery
            && let Some(rate) = delivery.rate()
        {
            let is_limited = delivery.is_app_limited || self.state == State::ProbeRtt;
            if rate >= self.most_rate() || !is_limited {
                self.rate.update(self.cycles, rate);
            }
        }
        begins
    }

    /// Ends startup when the pipe is full or losses are heavy: `CheckStartupDone`.
    fn check_startup(&mut self, loss_round_ends: bool, sample: &AckSample) {
        if self.state != State::Startup {
            return;
        }
        let is_lossy = self.is_recovering
            && loss_round_ends
            && self.short_term.loss_events >= self.version.startup_loss_events
            && is_too_high(sample);
        if is_lossy && !self.full_pipe.was_full {
            self.full_pipe.was_full = true;
            let product = self.product(self.bandwidth(), 1.0);
            self.long_term = product.max(self.short_term.latest_delivered);
        }
        if self.full_pipe.was_full {
            self.state = State::Drain;
            self.drain_round = self.rounds.count();
        }
    }

    /// Ends `Drain` when the queue is gone or some rounds have passed: `CheckDrainDone`.
    fn check_drain(&mut self, now: Time, sample: &AckSample) {
        let drained = self.with_budget(self.product(self.bandwidth(), 1.0));
        let is_late = self.rounds.count() > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (sample.in_flight <= drained || is_late) {
            self.start_down(now, sample.delivered);
        }
    }

    /// Updates the least round trip, and begins and ends `ProbeRtt`: `UpdateMinRTT`
    /// and `CheckProbeRTT`.
    fn update_least_rtt(&mut self, now: Time, begins: bool, sample: &AckSample) {
        let age = now.since(self.least_rtt_at);
        let has_expired = self.least_rtt.is_some() && age > self.version.probe_rtt_interval;
        if has_expired && self.state != State::ProbeRtt {
            // The product still has the round trip that is about to be replaced.
            let half = self.product(self.bandwidth(), PROBE_RTT_GAIN);
            self.probe_rtt_window = half.max(self.least_window());
        }
        if let Some(rtt) = sample.rtt
            && (has_expired || self.least_rtt.is_none_or(|least| rtt < least))
        {
            self.least_rtt = Some(rtt);
            self.least_rtt_at = now;
        }
        if has_expired && self.state != State::ProbeRtt && !self.is_restarting {
            self.save_window();
            self.state = State::ProbeRtt;
            self.probe_rtt = None;
            self.cycle.feedback = Feedback::Stopping;
            self.rounds.restart(sample.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now, begins, sample);
        }
        if sample.acked > Bytes::ZERO {
            self.is_restarting = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Time, begins: bool, sample: &AckSample) {
        match self.probe_rtt {
            None if sample.in_flight <= self.probe_rtt_window => {
                self.probe_rtt = Some((now + PROBE_RTT_TIME, false));
                self.rounds.restart(sample.delivered);
            }
            None => {}
            Some((end, has_passed)) => {
                let has_passed = has_passed || begins;
                self.probe_rtt = Some((end, has_passed));
                if has_passed && now > end {
                    self.end_probe_rtt(now, sample.delivered);
                }
            }
        }
    }

    fn end_probe_rtt(&mut self, now: Time, delivered: Bytes) {
        self.least_rtt_at = now;
        self.window = self.window.max(self.prior_window);
        self.short_term.reset();
        if self.full_pipe.was_full {
            self.start_down(now, delivered);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }

    fn update_pacing(&mut self, sample: &AckSample) {
        let (gain, _) = self.gains();
        if !self.has_rtt
            && let Some(rtt) = sample.smoothed_rtt
        {
            self.has_rtt = true;
            self.pacing_rate = Rate::of(initial_window(self.mss), rtt).scale(gain);
        }
        let rate = self.bandwidth().scale(gain * MARGIN);
        if rate > Rate::ZERO && (self.full_pipe.was_full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// Sets the window: `SetCwnd`.
    fn update_window(&mut self, sample: &AckSample) {
        let (_, gain) = self.gains();
        let product = self.product(self.bandwidth(), gain);
        let most = self.with_budget(product + self.aggregation.extra());
        if self.full_pipe.was_full {
            self.window = (self.window + sample.acked).min(most);
        } else if self.window < most || sample.delivered < initial_window(self.mss) {
            self.window += sample.acked;
        }
        self.window = self.window.max(self.least_window());
        if self.state == State::ProbeRtt {
            self.window = self.window.min(self.probe_rtt_window);
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.long_term,
            State::Cruise | State::ProbeRtt => self.with_headroom(),
            State::Startup | State::Drain => Bytes::MAX,
        };
        let cap = cap.min(self.short_term.in_flight).max(self.least_window());
        self.window = self.window.min(cap);
    }

    fn save_window(&mut self) {
        self.prior_window = if self.is_recovering || self.state == State::ProbeRtt {
            self.prior_window.max(self.window)
        } else {
            self.window
        };
    }
}

impl Congestion for Bbr3 {
    /// Handles a restart after idling: `HandleRestartFromIdle`.
    fn on_sent(&mut self, now: Time, in_flight: Bytes, is_app_limited: bool) {
        if in_flight > Bytes::ZERO || !is_app_limited {
            return;
        }
        self.is_restarting = true;
        self.aggregation.restart(now);
        if self.is_in_probe_bw() {
            self.pacing_rate = self.bandwidth().scale(MARGIN);
        }
    }

    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let loss_round_ends = self.short_term.begin(sample);
        let begins = self.update_rate(sample);
        let (round, rate, window) = (self.rounds.count(), self.bandwidth(), self.window);
        if loss_round_ends {
            let most = self.most_rate();
            self.short_term.adapt(self.is_probing(), most, window);
        }
        self.aggregation.update(now, round, rate, window, sample);
        self.full_pipe.update(begins, sample);
        self.check_startup(loss_round_ends, sample);
        self.check_drain(now, sample);
        self.update_cycle(now, begins, sample);
        self.update_least_rtt(now, begins, sample);
        if loss_round_ends {
            self.short_term.advance(sample);
        }
        self.update_pacing(sample);
        self.update_window(sample);
    }

    /// Counts a lost segment, and judges the probe that sent it: `HandleLostPacket`.
    fn on_segment_lost(&mut self, now: Time, lost: &LostSegment) {
        self.short_term.on_segment_lost(lost.delivered);
        let allowed = lost.sent_in_flight.scale(LOSS_THRESHOLD);
        if !self.cycle.is_sample || lost.lost_since <= allowed {
            return;
        }
        // `InflightAtLoss`: the flight at which losses passed the threshold, within this segment.
        let before = lost.sent_in_flight - lost.length;
        let lost_before = lost.lost_since - lost.length;
        let prefix = before.scale(LOSS_THRESHOLD) - lost_before;
        let at_loss = before + prefix.scale(1.0 / (1.0 - LOSS_THRESHOLD));
        self.on_too_high(now, at_loss, lost.is_app_limited, lost.delivered);
    }

    fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {
        self.save_window();
        self.is_recovering = true;
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.save_window();
        }
        self.is_recovering = true;
        self.window = self.mss;
    }

    fn on_ecn(&mut self, _now: Time, _in_flight: Bytes) {}

    fn on_recovered(&mut self, _now: Time) {
        self.is_recovering = false;
        self.window = self.window.max(self.prior_window);
    }

    fn window(&self) -> Bytes {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    /// The number of segments that leave at once: `BBRSetSendQuantum`.
    fn burst(&self, mss: Bytes, allowance: Bytes) -> u64 {
        let least = if self.pacing_rate < BURST_RATE {
            1
        } else {
            LEAST_BURST
        };
        burst_segments(self.pacing_rate, mss, allowance, least)
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn bandwidth(&self) -> Option<Rate> {
        self.rate.get().map(|rate| rate.min(self.short_term.rate))
    }

    fn stage(&self) -> Option<Stage> {
        Some(match self.state {
            State::Startup => Stage::Startup,
            State::Drain | State::Down => Stage::Drain,
            State::Cruise | State::Refill => Stage::Cruise,
            State::Up => Stage::Probe,
            State::ProbeRtt => Stage::ProbeRtt,
        })
    }
}
