//! BBR's model of the path, apart from the rate and the round trip.

use mimosa_units::{Bytes, Rate, Time};

use crate::window::congestion::AckSample;
use crate::window::filter::WindowedMax;

/// Growth of the rate, by a quarter, without which a round counts towards a
/// plateau (section 5.3.1).
const FULL_GROWTH: f64 = 1.25;
/// Rounds without such growth that make a plateau (section 5.3.1).
const FULL_ROUNDS: u32 = 3;
/// Rounds whose greatest excess of acknowledged bytes counts:
/// `ExtraAckedFilterLen` (section 2.12).
const AGGREGATION_ROUNDS: u64 = 10;
/// Factor by which the short-term model falls at most in a round: `Beta`
/// (section 2.8).
pub(super) const BETA: f64 = 0.7;

/// The detector of a plateau in the rate (section 5.3.1).
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    baseline: Rate,
    count: u32,
    /// Whether the rate has reached a plateau since the last reset.
    pub(super) is_full_now: bool,
    /// Whether the pipe was ever found to be full, by a plateau or by losses in
    /// startup.
    pub(super) was_full: bool,
}

impl FullPipe {
    pub(super) const fn reset(&mut self, baseline: Rate) {
        self.baseline = baseline;
        self.count = 0;
        self.is_full_now = false;
    }

    pub(super) fn update(&mut self, round_begins: bool, sample: &AckSample) {
        let Some(delivery) = sample.delivery else {
            return;
        };
        if self.is_full_now || !round_begins || delivery.is_app_limited {
            return;
        }
        let rate = delivery.rate().unwrap_or(Rate::ZERO);
        if rate >= self.baseline.scale(FULL_GROWTH) {
            self.reset(rate);
            return;
        }
        self.count += 1;
        if self.count >= FULL_ROUNDS {
            self.is_full_now = true;
            self.was_full = true;
        }
    }
}

/// The short-term model: bounds of the rate and the flight that losses set
/// (section 5.5.10).
#[derive(Clone, Debug)]
pub(super) struct ShortTerm {
    pub(super) rate: Rate,
    pub(super) in_flight: Bytes,
    latest_rate: Rate,
    pub(super) latest_delivered: Bytes,
    round_end: Bytes,
    loses: bool,
    /// Number of acknowledgements in this round that told of losses.
    pub(super) loss_events: u32,
}

impl ShortTerm {
    pub(super) const fn new() -> Self {
        Self {
            rate: Rate::MAX,
            in_flight: Bytes::MAX,
            latest_rate: Rate::ZERO,
            latest_delivered: Bytes::ZERO,
            round_end: Bytes::ZERO,
            loses: false,
            loss_events: 0,
        }
    }

    /// Takes a lost segment: `NoteLoss`. The first loss begins a round.
    pub(super) const fn on_segment_lost(&mut self, delivered: Bytes) {
        if !self.loses {
            self.round_end = delivered;
        }
        self.loses = true;
    }

    /// Takes a sample: `UpdateLatestDeliverySignals`. Returns whether a round
    /// of losses ends.
    pub(super) fn begin(&mut self, sample: &AckSample) -> bool {
        self.loss_events += u32::from(sample.lost > Bytes::ZERO);
        let Some(delivery) = sample.delivery else {
            return false;
        };
        let rate = delivery.rate().unwrap_or(Rate::ZERO);
        self.latest_rate = self.latest_rate.max(rate);
        self.latest_delivered = self.latest_delivered.max(delivery.delivered);
        let ends = delivery.prior_delivered >= self.round_end;
        if ends {
            self.round_end = sample.delivered;
        }
        ends
    }

    /// Lowers the bounds at the end of a round with losses, except while
    /// probing: `AdaptLowerBoundsFromCongestion`.
    pub(super) fn adapt(&mut self, is_probing: bool, rate: Rate, window: Bytes) {
        if self.loses && !is_probing {
            self.rate = self.latest_rate.max(self.rate.min(rate).scale(BETA));
            if self.in_flight == Bytes::MAX {
                self.in_flight = window;
            }
            self.in_flight = self.latest_delivered.max(self.in_flight.scale(BETA));
        }
        self.loses = false;
    }

    /// Begins the measurements of the next round:
    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance(&mut self, sample: &AckSample) {
        self.loss_events = 0;
        if let Some(delivery) = sample.delivery {
            self.latest_rate = delivery.rate().unwrap_or(Rate::ZERO);
            self.latest_delivered = delivery.delivered;
        }
    }

    /// Forgets the measurements of the present round: `ResetCongestionSignals`.
    pub(super) const fn reset_signals(&mut self) {
        self.loses = false;
        self.latest_rate = Rate::ZERO;
        self.latest_delivered = Bytes::ZERO;
    }

    /// Removes the bounds: `ResetShortTermModel`.
    pub(super) const fn reset(&mut self) {
        self.rate = Rate::MAX;
        self.in_flight = Bytes::MAX;
    }
}

/// Estimate of the amount that is acknowledged at once beyond what the rate
/// explains (section 5.5.9).
#[derive(Clone, Debug)]
pub(super) struct Aggregation {
    start: Time,
    delivered: Bytes,
    extra: WindowedMax<Bytes>,
}

impl Aggregation {
    pub(super) fn new() -> Self {
        Self {
            start: Time::ZERO,
            delivered: Bytes::ZERO,
            extra: WindowedMax::new(AGGREGATION_ROUNDS),
        }
    }

    pub(super) const fn restart(&mut self, now: Time) {
        self.start = now;
    }

    pub(super) fn update(
        &mut self,
        now: Time,
        round: u64,
        rate: Rate,
        window: Bytes,
        sample: &AckSample,
    ) {
        let mut expected = rate.amount_in(now.since(self.start));
        if self.delivered <= expected {
            self.delivered = Bytes::ZERO;
            self.start = now;
            expected = Bytes::ZERO;
        }
        self.delivered += sample.acked;
        self.extra
            .update(round, (self.delivered - expected).min(window));
    }

    pub(super) fn extra(&self) -> Bytes {
        self.extra.get().unwrap_or(Bytes::ZERO)
    }
}
