//! BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (sections
//! 4.1 to 4.3), and Linux `tcp_bbr.c` (5.1 and later) where the two differ.
//!
//! ```text
//! pacing rate = gain * greatest delivery rate of 11 rounds
//! window      = gain * that rate * least round trip of 10 s
//!               + aggregated acknowledgements + 3 bursts of the offload
//!
//! Startup -> Drain -> ProbeBw <-> ProbeRtt
//! ```
//!
//! *Deviations*: a recovery that proves spurious is not undone. The greatest
//! rate is exact, where Linux keeps three values (`minmax_running_max`). There
//! is no handshake before the first data, and so no round trip is known then.

mod aggregation;
mod model;
mod policer;
#[cfg(test)]
mod tests;

use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::window::burst::burst_segments;
use crate::window::congestion::{AckSample, Congestion, LostSegment, Rounds, initial_window};
use crate::window::filter::WindowedMax;
use aggregation::Aggregation;
use model::FullPipe;
use policer::{Evidence, Policer};

/// Gain of startup: 2/ln 2, the least gain that doubles the rate each round
/// (section 4.3.2.1), in 256ths as in Linux.
const HIGH_GAIN: f64 = 739.0 / 256.0;
/// Pacing gain of `Drain`, which empties the queue of startup in one round
/// (section 4.3.3).
const DRAIN_GAIN: f64 = 88.0 / 256.0;
/// Pacing gains of the phases of `ProbeBw` (section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window gain in `ProbeBw`, which leaves room for delayed acknowledgements
/// (section 4.2.3.2).
const WINDOW_GAIN: f64 = 2.0;
/// The window in `ProbeRtt`, and the smallest window except while losses are
/// repaired, in segments: `BBRMinPipeCwnd` (section 4.2.3.3).
const LEAST_SEGMENTS: u64 = 4;
/// Rounds whose greatest rate counts, the current one and ten before it:
/// `BtlBwFilterLen` (section 4.1.1.3; Linux `bbr_bw_rtts`, an age that
/// `minmax_running_max` still keeps).
const RATE_ROUNDS: u64 = 11;
/// How long a least round trip is believed: `RTpropFilterLen`
/// (section 4.1.2.1).
const RTT_MEMORY: TimeDelta = TimeDelta::from_millis(10_000);
/// How long `ProbeRtt` keeps the flight small: `ProbeRTTDuration`
/// (section 4.3.5).
const PROBE_RTT_TIME: TimeDelta = TimeDelta::from_millis(200);
/// Factor that keeps the pacing rate one percent below the estimate: Linux
/// `bbr_pacing_margin_percent`.
const MARGIN: f64 = 0.99;
/// Round trip assumed before the first sample (section 4.2.1; Linux: 1 ms).
const FIRST_RTT: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// How a recovery from losses changes the window (Linux `packet_conservation`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Repair {
    None,
    /// Recovery has begun since the last acknowledgement.
    Beginning,
    /// The first round of recovery: no more may leave than what arrives.
    Conserving,
    Growing,
}

/// The state of BBR version 1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    mss: Bytes,
    mode: Mode,
    window: Bytes,
    /// The window before recovery or `ProbeRtt`.
    saved_window: Bytes,
    pacing_rate: Rate,
    has_rtt: bool,
    rate: WindowedMax<Rate>,
    rounds: Rounds,
    least_rtt: Option<TimeDelta>,
    least_rtt_at: Time,
    full: FullPipe,
    phase: usize,
    phase_start: Time,
    /// When `ProbeRtt` may end, and whether a round has passed in it; `None`
    /// until the flight is small enough.
    probe_rtt: Option<(Time, bool)>,
    repair: Repair,
    is_restarting: bool,
    /// Whether the last acknowledgement came in `ProbeRtt`.
    limits_itself: bool,
    aggregation: Aggregation,
    policer: Policer,
    delivered: Bytes,
    dice: SplitMix,
}

impl Bbr1 {
    /// A fresh state for segments of `mss`; `seed` chooses the phases in which
    /// cycles begin.
    #[must_use]
    pub fn new(mss: Bytes, seed: u64) -> Self {
        let window = initial_window(mss);
        Self {
            mss,
            mode: Mode::Startup,
            window,
            saved_window: Bytes::ZERO,
            pacing_rate: Rate::of(window, FIRST_RTT).scale(HIGH_GAIN * MARGIN),
            has_rtt: false,
            rate: WindowedMax::new(RATE_ROUNDS),
            rounds: Rounds::default(),
            least_rtt: None,
            least_rtt_at: Time::ZERO,
            full: FullPipe::default(),
            phase: 0,
            phase_start: Time::ZERO,
            probe_rtt: None,
            repair: Repair::None,
            is_restarting: false,
            limits_itself: false,
            aggregation: Aggregation::default(),
            policer: Policer::default(),
            delivered: Bytes::ZERO,
            dice: SplitMix::new(seed),
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw if self.policer.rate().is_some() => 1.0,
            Mode::ProbeBw => CYCLE[self.phase % CYCLE.len()],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn window_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => WINDOW_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    fn check_drain(&mut self, now: Time, sample: &AckSample) {
        if self.mode == Mode::Startup && self.full.is_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain {
            let in_flight = self.in_flight_at_departure(sample.in_flight, sample);
            if in_flight <= self.inflight(1.0) {
                self.enter_probe_bw(now);
            }
        }
    }

    /// Enters `ProbeBw` in a random phase except the draining one, so that
    /// flows differ.
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let steps = usize::try_from(self.dice.below(CYCLE.len() as u64 - 1)).unwrap_or(0);
        self.phase = CYCLE.len() - 1 - steps;
        self.advance_phase(now);
    }

    fn advance_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    /// Begins the next phase of `ProbeBw` if the present one is over:
    /// `BBRIsNextCyclePhase`.
    fn check_phase(&mut self, now: Time, sample: &AckSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let least_rtt = self.least_rtt.unwrap_or(TimeDelta::ZERO);
        let is_full_length = now.since(self.phase_start) > least_rtt;
        let gain = self.pacing_gain();
        let in_flight = self.in_flight_at_departure(sample.prior_in_flight, sample);
        let is_over = if gain > 1.0 {
            is_full_length && (sample.lost > Bytes::ZERO || in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            is_full_length || in_flight <= self.inflight(1.0)
        } else {
            is_full_length
        };
        if is_over {
            self.advance_phase(now);
        }
    }

    /// Updates the least round trip, and begins and ends `ProbeRtt`:
    /// `BBRUpdateRTprop` and `BBRCheckProbeRTT`.
    fn update_least_rtt(&mut self, now: Time, begins: bool, sample: &AckSample) {
        let has_expired = self.least_rtt.is_some() && now.since(self.least_rtt_at) > RTT_MEMORY;
        // The acknowledgement of a lone segment may have waited for the
        // receiver's timer.
        let may_be_delayed = sample.acked <= self.mss
            && sample
                .delivery
                .is_some_and(|delivery| delivery.delivered <= sample.acked);
        let is_renewed = has_expired && !may_be_delayed;
        if let Some(rtt) = sample.rtt
            && (is_renewed || self.least_rtt.is_none_or(|least| rtt <= least))
        {
            self.least_rtt = Some(rtt);
            self.least_rtt_at = now;
        }
        if has_expired && !self.is_restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window();
            self.probe_rtt = None;
        }
        self.limits_itself = self.mode == Mode::ProbeRtt;
        if self.limits_itself {
            self.handle_probe_rtt(now, begins, sample);
        }
        if sample.delivery.is_some() {
            self.is_restarting = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Time, begins: bool, sample: &AckSample) {
        let Some((end, has_passed)) = self.probe_rtt else {
            if sample.in_flight <= self.segments(LEAST_SEGMENTS) {
                self.probe_rtt = Some((now + PROBE_RTT_TIME, false));
                self.rounds.restart(sample.delivered);
            }
            return;
        };
        let has_passed = has_passed || begins;
        self.probe_rtt = Some((end, has_passed));
        if has_passed {
            self.check_probe_rtt_done(now);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt.is_some_and(|(end, _)| now > end) {
            self.least_rtt_at = now;
            self.window = self.window.max(self.saved_window);
            if self.full.is_reached {
                self.enter_probe_bw(now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn update_pacing(&mut self, sample: &AckSample) {
        if !self.has_rtt
            && let Some(rtt) = sample.smoothed_rtt
        {
            self.has_rtt = true;
            self.pacing_rate = Rate::of(self.window, rtt).scale(HIGH_GAIN * MARGIN);
        }
        let rate = self.bandwidth().scale(self.pacing_gain() * MARGIN);
        if rate > Rate::ZERO && (self.full.is_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// Sets the window: `BBRSetCwnd` and `BBRModulateCwndForRecovery`.
    fn update_window(&mut self, sample: &AckSample) {
        if sample.acked > Bytes::ZERO {
            self.modulate_window(sample);
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(self.segments(LEAST_SEGMENTS));
        }
    }

    fn modulate_window(&mut self, sample: &AckSample) {
        if sample.lost > Bytes::ZERO {
            self.window = (self.window - sample.lost).max(self.mss);
        }
        if self.repair == Repair::Beginning {
            self.repair = Repair::Conserving;
            self.rounds.restart(sample.delivered);
            self.window = sample.in_flight + sample.acked;
        }
        if self.repair == Repair::Conserving {
            self.window = self.window.max(sample.in_flight + sample.acked);
        } else {
            let rate = self.bandwidth();
            let mut target = self.product(rate, self.window_gain());
            if self.full.is_reached {
                target += self.aggregation.allowance(rate);
            }
            let target = self.with_budget(target);
            if self.full.is_reached {
                self.window = (self.window + sample.acked).min(target);
            } else if self.window < target || sample.delivered < initial_window(self.mss) {
                self.window += sample.acked;
            }
            self.window = self.window.max(self.segments(LEAST_SEGMENTS));
        }
    }

    fn save_window(&mut self) {
        self.saved_window = if self.repair != Repair::None || self.mode == Mode::ProbeRtt {
            self.saved_window.max(self.window)
        } else {
            self.window
        };
    }
}

fn is_app_limited(sample: &AckSample) -> bool {
    sample
        .delivery
        .is_none_or(|delivery| delivery.is_app_limited)
}

impl Congestion for Bbr1 {
    fn on_sent(&mut self, now: Time, in_flight: Bytes, is_app_limited: bool) {
        if in_flight == Bytes::ZERO && is_app_limited {
            // Linux `CA_EVENT_TX_START`: after idling, the pacing rate is the
            // estimate.
            self.is_restarting = true;
            self.aggregation.restart(now);
            match self.mode {
                Mode::ProbeBw => self.pacing_rate = self.bandwidth().scale(MARGIN),
                Mode::ProbeRtt => self.check_probe_rtt_done(now),
                Mode::Startup | Mode::Drain => {}
            }
        }
    }

    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.delivered = sample.delivered;
        let begins = self.update_bandwidth(now, sample);
        self.check_phase(now, sample);
        if begins && !is_app_limited(sample) {
            self.full.update(self.greatest_rate());
        }
        self.check_drain(now, sample);
        self.update_least_rtt(now, begins, sample);
        self.update_pacing(sample);
        self.update_window(sample);
    }

    fn on_segment_lost(&mut self, _now: Time, lost: &LostSegment) {
        self.policer.on_segment_lost(lost.length);
    }

    fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {
        self.save_window();
        self.repair = Repair::Beginning;
    }

    fn on_timeout(&mut self, now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.save_window();
        }
        self.repair = Repair::Growing;
        self.window = self.mss;
        // The test for a full pipe begins anew: Linux `bbr_set_state`.
        self.full.rate = Rate::ZERO;
        let evidence = Evidence {
            round_begins: true,
            has_lost: true,
            is_app_limited: false,
            delivered: self.delivered,
        };
        self.judge_policer(now, &evidence);
    }

    /// BBR version 1 takes no notice of marks.
    fn on_ecn(&mut self, _now: Time, _in_flight: Bytes) {}

    fn on_recovered(&mut self, _now: Time) {
        self.repair = Repair::None;
        if self.mode != Mode::ProbeRtt {
            self.window = self.window.max(self.saved_window);
        }
    }

    fn window(&self) -> Bytes {
        self.window
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn burst(&self, mss: Bytes, allowance: Bytes) -> u64 {
        burst_segments(self.pacing_rate, mss, allowance, self.least_burst())
    }

    fn limits_itself(&self) -> bool {
        self.limits_itself
    }

    fn governs_recovery(&self) -> bool {
        true
    }
}
