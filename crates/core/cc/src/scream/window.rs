//! The reference window (4.2.2): congestion reduces it, and data that arrives raises it.

use mimosa_facts::Cause;
use mimosa_units::{Time, TimeDelta};

use super::config::Config;

/// Factor of the window's relative distance from the inflection point, near which the window grows
/// slowly: `scl_t *= 8` (4.2.2.1).
const INFLECTION_GAIN: f64 = 8.0;
/// Number of round trips in which the inflection point is set at most once.
const INFLECTION_RTTS: u32 = 10;
/// Number of round trips without a reaction after which an L4S mark first reduces the window to the
/// amount in flight.
const STALE_RTTS: u32 = 100;

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
    /// Inflection point, `ref_wnd_i`: the window at an earlier reduction.
    inflection: f64,
    inflected: Option<Time>,
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
            inflection: 1.0,
            inflected: None,
            detected: None,
            reacted: None,
            lost: false,
            marked: false,
            policed: f64::MAX,
        }
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
        let distance = INFLECTION_GAIN * (self.size - self.inflection) / self.inflection;
        let near = (distance * distance).clamp(0.1, 1.0);
        let reduced = self.reduce(now, signals, near, view, config);
        let raised = self.raise(now, signals, near, view, config);
        self.size = self
            .size
            .min(self.policed)
            .max(config.min_window.get() as f64);
        // A reduction remains the reason until another one is allowed.
        let interval = config.virtual_rtt.min(view.srtt);
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
        let interval = config.virtual_rtt.min(view.srtt);
        if self.reacted.is_some_and(|at| now.since(at) < interval) {
            return None;
        }
        let threshold = view.delay_target / 2;
        let cause = if self.lost {
            if !self.is_loss_congestion(view, config) {
                self.lost = false;
                return None;
            }
            Cause::Loss
        } else if self.marked {
            Cause::Marked
        } else if view.average_delay > threshold {
            Cause::QueueDelay
        } else {
            return None;
        };
        let settled = view.srtt * INFLECTION_RTTS;
        if self.inflected.is_none_or(|at| now.since(at) > settled) {
            self.inflected = Some(now);
            self.inflection = self.size.max(1.0);
        }
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
        near: f64,
        view: &View,
        config: &Config,
    ) -> Option<Cause> {
        let segment = config.segment.get() as f64;
        let round = config.virtual_rtt.max(view.srtt);
        let calm = self.detected.map_or(1.0, |at| {
            (now.since(at).ratio(round) / config.post_congestion_rtts).clamp(0.0, 1.0)
        });
        let clean = (signals.acked - signals.acked_marked).max(0.0);
        let steps = config.multiplicative_increase * self.size / segment * calm * near;
        let step = clean
            * self.segment_share(config)
            * view.srtt.ratio(config.virtual_rtt).min(1.0)
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

    /// Ends a round trip: raises the upper bound behind a policer a little.
    pub(super) fn round(&mut self, config: &Config) {
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
    low / view.srtt.ratio(config.virtual_rtt).max(1.0)
}
