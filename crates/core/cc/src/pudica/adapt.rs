//! The bitrate by the smoothed BUR (section 4.2).

use mimosa_facts::{Cause, FrameId};
use mimosa_units::{Rate, Time, TimeDelta};

use super::config::{Adaptation, Cadence, Config, Growth, Overuse};
use super::{Pudica, smooth};

/// Lowest smoothed BUR that equation 8 is given. A lower one cannot be told from
/// that of an idle link; this bound limits the multiplicative increase to a
/// factor of 29 in a round.
const LOWEST_BUR: f64 = 0.01;
/// Lowest value of ln B in the additive term, so that this divisor neither
/// vanishes nor changes sign at low bitrates.
const LOWEST_LOG: f64 = 1.0;

impl Pudica {
    /// Adapts the bitrate to the smoothed BUR (section 4.2), after feedback about
    /// the frame `newest`.
    pub(super) fn adapt(&mut self, now: Time, newest: FrameId) {
        if now >= self.next_restart {
            self.tau = 0.0;
            self.next_restart = next_multiple(now, self.config.restart_every);
        }
        let (window, counts) = (self.config.smoothing_window, self.config.frame_size);
        let Some(bur) = smooth::smoothed(&self.frames, now, window, self.rate, counts) else {
            return;
        };
        // The receiving rate shows what the link carries only while a queue
        // stands.
        self.decision.evidence.service_rate = None;
        self.decision.evidence.smoothed_utilization = Some(bur);
        if bur > 1.0 {
            self.tau = 0.0;
            if self.config.overuse == Overuse::Hold {
                self.set_cause(Cause::Overuse);
                return;
            }
        }
        if newest < self.hold_until {
            self.set_cause(Cause::AwaitFeedback);
            return;
        }
        let (rate, cause) = self.next_rate(bur.max(LOWEST_BUR));
        // A small frame says little about a rate many times its own.
        let tried = self.frames.get_mut(newest).map(|frame| frame.bitrate());
        let bound = tried.map_or(Rate::MAX, |r| r.scale(self.config.application_headroom));
        if rate > bound && bound <= self.rate {
            self.set_cause(Cause::ApplicationLimited);
            return;
        }
        let rate = rate.min(bound);
        if self.limits.clamp(rate) == self.rate {
            self.set_cause(if rate > self.rate {
                Cause::AtMaximum
            } else {
                cause
            });
            return;
        }
        self.set_rate(rate, cause);
        if cause != Cause::FairnessStep || self.config.cadence == Cadence::Feedback {
            self.hold_until = self.next_frame;
        }
    }

    /// The bitrate that the smoothed BUR asks for, and the rule behind it.
    fn next_rate(&self, bur: f64) -> (Rate, Cause) {
        let Config {
            alpha,
            increase_gain,
            adaptation,
            additive_step,
            ..
        } = self.config;
        if bur <= alpha {
            // Equations 7 and 8.
            let xi = increase_gain * (f64::midpoint(alpha, 1.0) - bur) / bur;
            return (self.rate.scale(1.0 + xi), Cause::MultiplicativeIncrease);
        }
        let rate = match adaptation {
            Adaptation::Simultaneous => self.fairness_step(),
            Adaptation::Classic => self.rate + additive_step,
        };
        (rate, Cause::FairnessStep)
    }

    /// The bitrate after a fairness step, `B + A` of equations 9 and 10.
    fn fairness_step(&self) -> Rate {
        let config = &self.config;
        let (mbps, max_mbps) = (self.rate.as_mbps(), self.limits.max().as_mbps());
        let increase = (max_mbps + self.grown(mbps)) * config.decrease_gain / 2.0;
        let lowest = (config.lowest_share * mbps).max(-config.largest_fall.as_mbps());
        let highest = (config.highest_share * mbps).min(config.largest_rise.as_mbps());
        let step = increase - config.decrease_gain * mbps;
        Rate::from_mbps(mbps + step.clamp(lowest, highest))
    }

    /// What `tau` adds to `B_max` in the additive term, in Mbit/s, at a bitrate
    /// of `mbps`.
    pub(super) fn grown(&self, mbps: f64) -> f64 {
        let tau = self.tau / self.config.growth_frames;
        let log = |mbps: f64| libm::log(mbps).max(LOWEST_LOG);
        match self.config.growth {
            Growth::Linear => 2.0 * tau / log(mbps),
            Growth::Exponential => libm::exp2(tau) / log(mbps),
            Growth::Independent => 2.0 * tau / log(self.limits.max().as_mbps() / 2.0),
        }
    }
}

/// The next multiple of `every` after `now`. Senders whose clocks agree thus
/// begin anew together, as section 4.2 asks for ("highly synchronized").
fn next_multiple(now: Time, every: TimeDelta) -> Time {
    let every = every.as_nanos().unsigned_abs().max(1);
    Time::from_nanos(
        (now.as_nanos() / every)
            .saturating_add(1)
            .saturating_mul(every),
    )
}
