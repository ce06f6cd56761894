//! BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00 (sections
//! 4.1 to 4.3), and Linux `tcp_bbr.c` as of 4.9 where the two differ.
//!
//! ```text
//! pacing rate = gain * greatest delivery rate of 10 rounds
//! window      = gain * that rate * least round trip of 10 s
//!
//! Startup -> Drain -> ProbeBw <-> ProbeRtt
//! ```
//!
//! *Deviations*: no detection of policers (`lt_bw`), no allowance for
//! aggregated acknowledgements (Linux 5.1), and no undo of a recovery that
//! proves spurious. The budget for segmentation offload is three segments,
//! since the pacer releases one at a time.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::congestion::{AckSample, Congestion, Rounds, initial_window};
use crate::filter::{Dice, WindowedMax};

/// 2/ln 2, the least gain that doubles the rate each round (section 4.3.2.1;
/// Linux: 2885/1000 + 1/256).
const HIGH_GAIN: f64 = 2.885_39;
/// Empties in one round what startup queued (section 4.3.3).
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// The gains of the phases of `ProbeBw` (section 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Window gain in `ProbeBw`: room for delayed acknowledgements (section
/// 4.2.3.2).
const WINDOW_GAIN: f64 = 2.0;
/// `BBRMinPipeCwnd`, in segments (section 4.2.3.3).
const LEAST_SEGMENTS: u64 = 4;
/// `BtlBwFilterLen`, in rounds (section 4.1.1.3).
const RATE_ROUNDS: u64 = 10;
/// `RTpropFilterLen` (section 4.1.2.1).
const RTT_MEMORY: TimeDelta = TimeDelta::from_millis(10_000);
/// `ProbeRTTDuration` (section 4.3.5).
const PROBE_RTT_TIME: TimeDelta = TimeDelta::from_millis(200);
/// Startup ends after three rounds without a quarter more (section 4.3.2.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Pace one percent below the estimate: Linux `bbr_pacing_margin_percent`.
const MARGIN: f64 = 0.99;
/// Segments in the hands of the segmentation offload, at both ends and in
/// the network (section 4.2.3.2; Linux `bbr_quantization_budget`).
const OFFLOAD_SEGMENTS: u64 = 3;
/// More window in the probing phase: Linux `bbr_quantization_budget`.
const PROBE_SEGMENTS: u64 = 2;
/// The round trip before the first sample (section 4.2.1; Linux: 1 ms).
const FIRST_RTT: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// What a loss makes of the window (Linux `packet_conservation`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Repair {
    None,
    /// First round of recovery: what arrives may leave, no more.
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
    full_rate: Rate,
    full_count: u32,
    is_full: bool,
    phase: usize,
    phase_start: Time,
    /// Set once the flight is small enough: when `ProbeRtt` may end, and
    /// whether a round has passed in it.
    probe_rtt: Option<(Time, bool)>,
    repair: Repair,
    is_restarting: bool,
    dice: Dice,
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
            pacing_rate: Rate::of(window, FIRST_RTT).scale(HIGH_GAIN),
            has_rtt: false,
            rate: WindowedMax::new(RATE_ROUNDS),
            rounds: Rounds::default(),
            least_rtt: None,
            least_rtt_at: Time::ZERO,
            full_rate: Rate::ZERO,
            full_count: 0,
            is_full: false,
            phase: 0,
            phase_start: Time::ZERO,
            probe_rtt: None,
            repair: Repair::None,
            is_restarting: false,
            dice: Dice::new(seed),
        }
    }

    fn bandwidth(&self) -> Rate {
        self.rate.get().unwrap_or(Rate::ZERO)
    }

    fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.get().saturating_mul(count))
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
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

    /// `gain` times the bandwidth-delay product, with what keeps the offload
    /// busy (`BBRInflight`).
    fn inflight(&self, gain: f64) -> Bytes {
        let Some(least_rtt) = self.least_rtt else {
            return initial_window(self.mss);
        };
        let product = self.bandwidth().amount_in(least_rtt).scale(gain);
        let mut budget = product + self.segments(OFFLOAD_SEGMENTS);
        if self.mode == Mode::ProbeBw && self.phase == 0 {
            budget += self.segments(PROBE_SEGMENTS);
        }
        budget
    }

    fn update_bandwidth(&mut self, sample: &AckSample) -> bool {
        let begins = self.rounds.update(sample);
        if begins && self.repair == Repair::Conserving {
            self.repair = Repair::Growing;
        }
        if let Some(delivery) = sample.delivery
            && let Some(rate) = delivery.rate()
            && (rate >= self.bandwidth() || !delivery.is_app_limited)
        {
            self.rate.update(self.rounds.count(), rate);
        }
        begins
    }

    fn check_full_pipe(&mut self, begins: bool, sample: &AckSample) {
        let is_app_limited = sample
            .delivery
            .is_none_or(|delivery| delivery.is_app_limited);
        if self.is_full || !begins || is_app_limited {
            return;
        }
        if self.bandwidth() >= self.full_rate.scale(FULL_GROWTH) {
            self.full_rate = self.bandwidth();
            self.full_count = 0;
        } else {
            self.full_count += 1;
            self.is_full = self.full_count >= FULL_ROUNDS;
        }
    }

    fn check_drain(&mut self, now: Time, in_flight: Bytes) {
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && in_flight <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    /// Begins anywhere but in the phase that drains, so that flows differ.
    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let steps = usize::try_from(self.dice.roll(CYCLE.len() as u64 - 1)).unwrap_or(0);
        self.phase = CYCLE.len() - 1 - steps;
        self.advance_phase(now);
    }

    fn advance_phase(&mut self, now: Time) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_start = now;
    }

    /// `BBRIsNextCyclePhase`.
    fn check_phase(&mut self, now: Time, sample: &AckSample) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let least_rtt = self.least_rtt.unwrap_or(TimeDelta::ZERO);
        let is_full_length = now.since(self.phase_start) > least_rtt;
        let gain = self.pacing_gain();
        let is_over = if gain > 1.0 {
            is_full_length
                && (sample.lost > Bytes::ZERO || sample.prior_in_flight >= self.inflight(gain))
        } else if gain < 1.0 {
            is_full_length || sample.prior_in_flight <= self.inflight(1.0)
        } else {
            is_full_length
        };
        if is_over {
            self.advance_phase(now);
        }
    }

    /// `BBRUpdateRTprop` and `BBRCheckProbeRTT`.
    fn update_least_rtt(&mut self, now: Time, begins: bool, sample: &AckSample) {
        let has_expired = self.least_rtt.is_some() && now.since(self.least_rtt_at) > RTT_MEMORY;
        if let Some(rtt) = sample.rtt
            && (has_expired || self.least_rtt.is_none_or(|least| rtt <= least))
        {
            self.least_rtt = Some(rtt);
            self.least_rtt_at = now;
        }
        if has_expired && !self.is_restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window();
            self.probe_rtt = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.handle_probe_rtt(now, begins, sample);
        }
        self.is_restarting = false;
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
        if has_passed && now >= end {
            self.least_rtt_at = now;
            self.window = self.window.max(self.saved_window);
            if self.is_full {
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
            self.pacing_rate = Rate::of(self.window, rtt).scale(HIGH_GAIN);
        }
        let rate = self.bandwidth().scale(self.pacing_gain() * MARGIN);
        if rate > Rate::ZERO && (self.is_full || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `BBRSetCwnd` and `BBRModulateCwndForRecovery`.
    fn update_window(&mut self, sample: &AckSample) {
        if sample.lost > Bytes::ZERO {
            self.window = (self.window - sample.lost).max(self.mss);
        }
        if self.repair == Repair::Conserving {
            self.window = self.window.max(sample.in_flight + sample.acked);
        } else {
            let target = self.inflight(self.window_gain());
            if self.is_full {
                self.window = (self.window + sample.acked).min(target);
            } else if self.window < target || sample.delivered < initial_window(self.mss) {
                self.window += sample.acked;
            }
            self.window = self.window.max(self.segments(LEAST_SEGMENTS));
        }
        if self.mode == Mode::ProbeRtt {
            self.window = self.window.min(self.segments(LEAST_SEGMENTS));
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

impl Congestion for Bbr1 {
    fn on_sent(&mut self, _now: Time, in_flight: Bytes, is_app_limited: bool) {
        if in_flight == Bytes::ZERO && is_app_limited {
            // Linux `CA_EVENT_TX_START`: after idling, pace at the estimate.
            self.is_restarting = true;
            if self.mode == Mode::ProbeBw {
                self.pacing_rate = self.bandwidth().scale(MARGIN);
            }
        }
    }

    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let begins = self.update_bandwidth(sample);
        self.check_phase(now, sample);
        self.check_full_pipe(begins, sample);
        self.check_drain(now, sample.in_flight);
        self.update_least_rtt(now, begins, sample);
        self.update_pacing(sample);
        self.update_window(sample);
    }

    fn on_loss(&mut self, _now: Time, in_flight: Bytes) {
        self.save_window();
        self.repair = Repair::Conserving;
        self.window = in_flight.max(self.mss);
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.save_window();
        }
        self.repair = Repair::Growing;
        self.window = self.mss;
        // A new start for the test of a full pipe: Linux `bbr_set_state`.
        self.full_rate = Rate::ZERO;
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

    fn governs_recovery(&self) -> bool {
        true
    }
}
