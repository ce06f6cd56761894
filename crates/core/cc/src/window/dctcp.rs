//! DCTCP: RFC 8257, section 3.3. What the RFC leaves open is as in Reno
//! (RFC 5681).
//!
//! *Deviations*: marks are counted in exact bytes, as accurate ECN reports
//! them, not inferred from a flag. An observation window is a round of
//! delivered data. A loss halves the window. As in Linux, the window also grows
//! in a round in which it is reduced for marks.

use mimosa_units::{Bytes, Time};

use crate::window::congestion::{
    AckSample, Congestion, Rounds, initial_window, least_threshold, may_grow, slow_start,
};

/// The estimation gain g (section 4.2: 1/16).
const GAIN: f64 = 1.0 / 16.0;
/// The estimated fraction of marks before any is counted: Linux
/// `dctcp_alpha_on_init`; section 3.3 also starts at one.
const INITIAL_FRACTION: f64 = 1.0;

/// The state of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    mss: Bytes,
    window: Bytes,
    threshold: Bytes,
    credit: Bytes,
    /// Estimated fraction of marked bytes, from 0 to 1: `DCTCP.Alpha`.
    fraction: f64,
    observation: Rounds,
    acked: Bytes,
    marked: Bytes,
    has_reduced: bool,
}

impl Dctcp {
    /// A fresh state for segments of `mss`.
    #[must_use]
    pub fn new(mss: Bytes) -> Self {
        Self {
            mss,
            window: initial_window(mss),
            threshold: Bytes::MAX,
            credit: Bytes::ZERO,
            fraction: INITIAL_FRACTION,
            observation: Rounds::default(),
            acked: Bytes::ZERO,
            marked: Bytes::ZERO,
            has_reduced: false,
        }
    }

    /// The estimated fraction of marked bytes, from 0 to 1.
    #[must_use]
    pub const fn fraction(&self) -> f64 {
        self.fraction
    }

    /// Updates the estimated fraction once per observation window: equation 1
    /// of section 3.3.
    fn observe(&mut self, sample: &AckSample) {
        self.acked += sample.acked;
        self.marked += sample.marked;
        if self.observation.update(sample) && self.acked > Bytes::ZERO {
            let marked = self.marked.get() as f64 / self.acked.get() as f64;
            self.fraction += GAIN * (marked.min(1.0) - self.fraction);
            self.acked = Bytes::ZERO;
            self.marked = Bytes::ZERO;
            self.has_reduced = false;
        }
    }

    fn reduce(&mut self, factor: f64) {
        self.threshold = self.window.scale(factor).max(least_threshold(self.mss));
        self.credit = Bytes::ZERO;
    }
}

impl Congestion for Dctcp {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.observe(sample);
        if sample.marked > Bytes::ZERO && !self.has_reduced && !sample.is_reducing {
            self.has_reduced = true;
            self.reduce(1.0 - self.fraction / 2.0);
            self.window = self.threshold;
        }
        let is_slow_start = self.window < self.threshold;
        if !may_grow(sample, self.window, is_slow_start) {
            return;
        }
        let mut acked = sample.acked;
        if is_slow_start {
            acked = slow_start(&mut self.window, self.threshold, acked);
        }
        self.credit += acked;
        while self.credit >= self.window {
            self.credit -= self.window;
            self.window += self.mss;
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
        self.window = self.mss;
    }

    fn window(&self) -> Bytes {
        self.window
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::TimeDelta;

    use super::*;
    use crate::window::delivery::DeliverySample;

    const MSS: Bytes = Bytes::new(1_000);

    /// Acknowledges one round of a hundred segments, of which the first
    /// `marked` are marked.
    fn round(dctcp: &mut Dctcp, number: u64, marked: u64) {
        for index in 0..100 {
            let delivered = Bytes::new((number * 100 + index + 1) * MSS.get());
            let is_marked = index < marked;
            dctcp.on_ack(
                Time::ZERO,
                &AckSample {
                    acked: MSS,
                    lost: Bytes::ZERO,
                    delivered,
                    marked: if is_marked { MSS } else { Bytes::ZERO },
                    rtt: None,
                    smoothed_rtt: None,
                    prior_in_flight: Bytes::ZERO,
                    in_flight: Bytes::ZERO,
                    delivery: Some(DeliverySample {
                        prior_delivered: delivered - Bytes::new(100 * MSS.get()),
                        ..DeliverySample::default()
                    }),
                    is_window_limited: false,
                    is_reducing: false,
                    pacing_wait: TimeDelta::ZERO,
                },
            );
        }
    }

    #[test]
    fn the_fraction_converges_to_that_of_the_marks() {
        let mut dctcp = Dctcp::new(MSS);
        for number in 0..200 {
            round(&mut dctcp, number, 20);
        }
        assert!(
            (dctcp.fraction() - 0.2).abs() < 0.01,
            "{}",
            dctcp.fraction()
        );
    }

    #[test]
    fn a_round_of_marks_reduces_once_by_half_the_fraction() {
        let mut dctcp = Dctcp::new(MSS);
        dctcp.window = Bytes::new(100_000);
        dctcp.fraction = 0.5;
        // The first acknowledgement ends the round before, without marks.
        dctcp.observation.restart(Bytes::new(1));
        round(&mut dctcp, 0, 0);
        dctcp.fraction = 0.5;
        round(&mut dctcp, 1, 30);
        let factor = dctcp.window.get() as f64 / 100_000.0;
        assert!((0.73..0.77).contains(&factor), "{factor}");
    }
}
