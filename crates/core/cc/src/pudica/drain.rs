//! The drain of section 4.3: the reaction to congestion that lasts, and the recovery from it.

use mimosa_facts::Cause;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::Pudica;

/// The state of a drain, the reaction to congestion that lasts.
#[derive(Debug)]
pub(super) struct Drain {
    since: Time,
    /// Smallest and largest one-way delay of the frames' first packets since
    /// `steady_since`.
    first_delays: Option<(TimeDelta, TimeDelta)>,
    steady_since: Time,
}

impl Pudica {
    /// Begins a drain, unless one has begun.
    pub(super) fn begin_drain(&mut self, now: Time) {
        self.drain.get_or_insert(Drain {
            since: now,
            first_delays: None,
            steady_since: now,
        });
    }

    /// Sets the bitrate of a drain by equation 11, or ends the drain if the path
    /// has become longer.
    pub(super) fn continue_drain(&mut self, now: Time, first_delay: TimeDelta, in_flight: Bytes) {
        if self.path_changed(now, first_delay) {
            self.estimate.restart(now, first_delay);
            self.noise.restart();
            self.min_rtt.clear();
            self.drain = None;
            self.above_one = 0;
            self.frames.forget_samples();
            self.hold_until = self.next_frame;
            self.decision.evidence.backlog = None;
            self.set_cause(Cause::PathChange);
            return;
        }
        let draining = Rate::of(in_flight, self.config.drain_time);
        self.decision.evidence.backlog = Some(in_flight);
        if let Some(receiving) = self.received.rate() {
            self.decision.evidence.service_rate = Some(receiving);
            let rate = receiving.scale(self.config.alpha) - draining;
            self.set_rate(rate.min(self.rate_before), Cause::Drain);
        }
    }

    /// Whether the delay has not moved in a drain for a long time. Then it is not
    /// a queue's delay, for a queue would have shrunk.
    fn path_changed(&mut self, now: Time, first_delay: TimeDelta) -> bool {
        let (after, jitter) = (
            self.config.path_change_after,
            self.config.path_change_jitter,
        );
        let Some(drain) = &mut self.drain else {
            return false;
        };
        if after == TimeDelta::ZERO || now.since(drain.since) < after {
            drain.steady_since = now;
            return false;
        }
        let (low, high) = drain
            .first_delays
            .map_or((first_delay, first_delay), |(low, high)| {
                (low.min(first_delay), high.max(first_delay))
            });
        if high - low > jitter {
            drain.first_delays = None;
            drain.steady_since = now;
            return false;
        }
        drain.first_delays = Some((low, high));
        now.since(drain.steady_since) >= after
    }

    /// Ends a drain, because the queue is gone: sets the bitrate in one step to
    /// the rate at which data arrived.
    pub(super) fn recover(&mut self) {
        self.drain = None;
        let receiving = self.received.rate();
        self.decision.evidence.backlog = None;
        self.decision.evidence.service_rate = receiving;
        let receiving = receiving.unwrap_or(self.rate);
        self.set_rate(receiving.min(self.rate_before), Cause::Recover);
        self.frames.forget_samples();
        self.hold_until = self.next_frame;
        self.fall_back = false;
        self.tau = 0.0;
    }
}
