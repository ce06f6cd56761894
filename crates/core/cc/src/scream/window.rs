//! The reference window (4.2.2): congestion reduces it, and data that arrives raises it.

use std::collections::VecDeque;

use mimosa_facts::Cause;
use mimosa_units::{Time, TimeDelta};

use super::config::{Config, Inflection};

/// Number of round trips without a reaction after which an L4S mark first reduces the window to the
/// amount in flight.
const STALE_RTTS: u32 = 100;

/// Level at which losses are congestion (libwebrtc's `LossEstimator::congested`).
const LOSSES_COUNT: f64 = 0.99;
/// Level from which losses keep the window from growing, unless it grows under congestion (libwebrtc's
/// `UpdateRefWindow`).
const LOSSES_STAY: f64 = 0.01;

/// The contents of one feedback message, except for delays.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// Bytes that are newly known to have arrived or to be lost.
    pub(super) acked: f64,
    /// Part of `acked` that arrived marked, in bytes.
    pub(super) acked_marked: f64,
    /// Whether a packet was lost.
    pub(super) lost: bool,
    /// Whether a packet arrived marked.
    pub(super) marked: bool,
}

/// The state of the controller that the window's rules use.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) srtt: TimeDelta,
    /// Average time for which the receiver holds feedback; zero if the version ignores it.
    pub(super) feedback_hold: TimeDelta,
    pub(super) delay: TimeDelta,
    pub(super) average_delay: TimeDelta,
    pub(super) delay_target: TimeDelta,
    pub(super) delay_scale: f64,
    /// Average share of marks, `l4s_alpha`.
    pub(super) marked_share: f64,
    pub(super) is_l4s: bool,
    pub(super) loss_rate: f64,
    /// Largest amount in flight in this round trip, in bytes.
    pub(super) flight: f64,
    /// Largest amount in flight in the round trip before, in bytes.
    pub(super) flight_before: f64,
    /// Whether the target is already well below the acknowledged bitrate.
    pub(super) is_target_low: bool,
    /// Whether the target is at its highest.
    pub(super) is_at_maximum: bool,
}

/// The reference window, `ref_wnd`, and the state of its rules. Sizes are in bytes, as floats.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) size: f64,
    inflection: InflectionPoint,
    /// How far losses are from counting as congestion: 1 where they do.
    loss_level: f64,
    /// Whether the last L4S mark came long after the reaction before it.
    pub(super) was_stale: bool,
    /// When a loss or a mark was last pending, `last_congestion_detected_time`.
    detected: Option<Time>,
    /// When the window was last reduced, `last_reaction_to_congestion_time`.
    reacted: Option<Time>,
    /// Whether a packet was lost since the last reaction.
    lost: bool,
    /// Whether a packet arrived marked since the last reaction.
    marked: bool,
    /// Upper bound of the window behind a policer, `max_policed_ref_wnd`.
    policed: f64,
}

impl Window {
    pub(super) const fn new(size: f64) -> Self {
        Self {
            size,
            inflection: InflectionPoint::new(),
            loss_level: 0.0,
            was_stale: false,
            detected: None,
            reacted: None,
            lost: false,
            marked: false,
            policed: f64::MAX,
        }
    }

    /// Returns the inflection point, in bytes.
    #[cfg(test)]
    pub(super) const fn inflection(&self) -> f64 {
        self.inflection.size
    }

    /// Returns a segment as a share of the window, `ref_wnd_ratio`; at most 1.
    pub(super) fn segment_share(&self, config: &Config) -> f64 {
        (config.segment.get() as f64 / self.size.max(1.0)).min(1.0)
    }

    /// Takes one feedback message. Returns the rule that moved the window or kept it from growing;
    /// `None` if no rule did, or if the last reduction still is the reason.
    pub(super) fn update(
        &mut self,
        now: Time,
        signals: Signals,
        view: &View,
        config: &Config,
    ) -> Option<Cause> {
        let near = self.inflection.nearness(self.size, config);
        let before = self.size;
        let reduced = self.reduce(now, signals, near, view, config);
        let least = self.size;
        let raised = self.raise(now, signals, reduced.is_some(), near, view, config);
        self.size = self
            .size
            .min(self.policed)
            .max(config.min_window.get() as f64);
        self.inflection.has_grown |= match config.inflection_after {
            Inflection::Growth => self.size > least,
            Inflection::NetGrowth => self.size > before,
            Inflection::Nothing => true,
        };
        // A reduction remains the reason until another one is allowed.
        let interval = config.reaction_interval.min(view.srtt);
        let stands = self.reacted.is_some_and(|at| now.since(at) < interval);
        reduced.or(if stands { None } else { raised })
    }

    /// Reduces the window in case of congestion (4.2.2.1). Returns the reason; `None` if the window
    /// stays.
    fn reduce(
        &mut self,
        now: Time,
        signals: Signals,
        near: f64,
        view: &View,
        config: &Config,
    ) -> Option<Cause> {
        self.lost |= signals.lost;
        self.marked |= signals.marked;
        if self.lost || self.marked {
            self.detected = Some(now);
        }
        let interval = config.reaction_interval.min(view.srtt);
        if self.reacted.is_some_and(|at| now.since(at) < interval) {
            return None;
        }
        self.was_stale = false;
        let threshold = view.delay_target / 2;
        let has_delay = view.average_delay > threshold;
        self.lost &= has_delay || self.do_losses_count(config);
        let cause = if self.lost {
            if !self.is_loss_congestion(view, config) {
                self.lost = false;
                return None;
            }
            Cause::Loss
        } else if self.marked {
            Cause::Marked
        } else if has_delay {
            Cause::QueueDelay
        } else {
            return None;
        };
        self.inflection.set(now, self.size, view.srtt, config);
        match cause {
            Cause::Loss => self.size *= config.loss_factor,
            Cause::Marked if !view.is_l4s => self.size *= config.ecn_factor,
            Cause::Marked => {
                let mut backoff = view.marked_share / 2.0 * long_path(view, config);
                if view.delay < view.delay_target / 4 {
                    backoff *= near.max(0.25) * view.delay_scale.max(0.25);
                }
                let stale = config.virtual_rtt.max(view.srtt) * STALE_RTTS;
                if self.reacted.is_none_or(|at| now.since(at) > stale) {
                    self.size = self.size.min(view.flight_before);
                    backoff = backoff.max(config.stale_share);
                    self.was_stale = true;
                }
                self.size *= 1.0 - backoff;
            }
            _ => {
                let share = (view.average_delay - threshold).ratio(threshold);
                let backoff = share.clamp(0.0, 1.0) / 2.0 * long_path(view, config);
                self.size *= 1.0 - backoff;
            }
        }
        self.size = self.size.max(config.min_window.get() as f64);
        self.reacted = Some(now);
        self.lost = false;
        self.marked = false;
        Some(cause)
    }

    /// Whether losses were seen in enough round trips to count, where no delay speaks for congestion.
    fn do_losses_count(&self, config: &Config) -> bool {
        config.loss_rtts <= 1.0 || self.loss_level >= LOSSES_COUNT
    }

    /// Whether losses are a sign of congestion (4.5.2). With `loss_policer`, few losses without a
    /// queue are the link's own, and many without a queue are those of a policer, which bounds the
    /// window.
    fn is_loss_congestion(&mut self, view: &View, config: &Config) -> bool {
        if !config.loss_policer {
            return true;
        }
        let queue = view.delay_target / 4;
        if view.loss_rate > config.policer_threshold && view.average_delay < queue {
            self.policed = self.size * config.policer_factor;
        }
        view.loss_rate > config.loss_threshold || view.average_delay > queue
    }

    /// Raises the window (4.2.2.2). Returns the rule that applied; `None` if no packet was newly
    /// reported without a mark.
    fn raise(
        &mut self,
        now: Time,
        signals: Signals,
        has_reacted: bool,
        near: f64,
        view: &View,
        config: &Config,
    ) -> Option<Cause> {
        let is_congested = signals.marked
            || view.average_delay > view.delay_target / 2
            || self.loss_level >= LOSSES_STAY;
        if is_congested && !has_reacted && !config.grow_under_congestion {
            return None;
        }
        let segment = config.segment.get() as f64;
        let round = config.virtual_rtt.max(view.srtt);
        let short = (view.srtt + view.feedback_hold)
            .ratio(config.virtual_rtt)
            .min(1.0);
        let calm = self.detected.map_or(1.0, |at| {
            (now.since(at).ratio(round) / config.post_congestion_rtts).clamp(0.0, 1.0)
        });
        let clean = (signals.acked - signals.acked_marked).max(0.0);
        let steps = config.multiplicative_increase * self.size / segment * calm * near;
        let step = clean
            * self.segment_share(config)
            * libm::pow(short, config.short_path_exponent)
            * near.max(0.25)
            * view.delay_scale.max(0.1)
            * (1.0 + steps);
        if step <= 0.0 {
            return None;
        }
        if view.is_at_maximum {
            return Some(Cause::AtMaximum);
        }
        let most = segment + view.flight.max(view.flight_before) * config.flight_headroom;
        if self.size + step > most {
            return Some(Cause::ApplicationLimited);
        }
        self.size += step;
        Some(if steps > 1.0 {
            Cause::MultiplicativeIncrease
        } else {
            Cause::AdditiveIncrease
        })
    }

    /// Ends a round trip: counts it as one with a loss or without, and raises the upper bound behind a
    /// policer a little.
    pub(super) fn round(&mut self, has_loss: bool, config: &Config) {
        let step = if has_loss {
            1.0 / config.loss_rtts
        } else {
            -1.0 / config.lossless_rtts
        };
        self.loss_level = (self.loss_level + step).clamp(0.0, 1.0);
        if self.policed < f64::MAX {
            self.policed *= 1.0 + config.policer_growth;
        }
    }
}

/// Returns the factor of reductions: lower on long paths, where they come more often than once in a
/// round trip, and when the target is low already.
fn long_path(view: &View, config: &Config) -> f64 {
    let low = if view.is_target_low {
        config.low_target_backoff
    } else {
        1.0
    };
    if config.long_path_backoff {
        low / view.srtt.ratio(config.virtual_rtt).max(1.0)
    } else {
        low
    }
}

/// The inflection point, `ref_wnd_i`: the window at an earlier reduction, in bytes.
#[derive(Debug)]
struct InflectionPoint {
    size: f64,
    set: Option<Time>,
    /// Whether what has to come before the next setting has come.
    has_grown: bool,
    /// The newest windows under congestion, newest first.
    history: VecDeque<f64>,
}

impl InflectionPoint {
    const fn new() -> Self {
        Self {
            size: 1.0,
            set: None,
            has_grown: true,
            history: VecDeque::new(),
        }
    }

    /// Returns `scl_t` for a window of `size` (4.2.2.1): from 0.1 at the point to 1 far from it.
    fn nearness(&self, size: f64, config: &Config) -> f64 {
        let distance = config.inflection_gain * (size - self.size) / self.size;
        (distance * distance).clamp(0.1, 1.0)
    }

    /// Takes the window under congestion, if the point may be set again.
    fn set(&mut self, now: Time, window: f64, srtt: TimeDelta, config: &Config) {
        let wait = srtt.scale(config.inflection_rtts);
        if !self.has_grown || self.set.is_some_and(|at| now.since(at) <= wait) {
            return;
        }
        self.set = Some(now);
        self.has_grown = false;
        self.history.truncate(config.inflection_median - 1);
        self.history.push_front(window.max(1.0));
        let mut sizes: Vec<_> = self.history.iter().copied().collect();
        sizes.sort_by(f64::total_cmp);
        self.size = sizes.get(sizes.len() / 2).copied().unwrap_or(self.size);
    }
}
