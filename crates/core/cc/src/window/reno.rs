//! Reno: RFC 5681 (slow start and congestion avoidance, section 3.1). SACK
//! recovery in the sender takes the place of RFC 6582.
//!
//! *Deviations*: bytes are counted, not acknowledgements (RFC 3465), without
//! that RFC's limit in slow start. The threshold after a loss is half the
//! window, as in Linux, not half the flight.

use mimosa_units::{Bytes, Time};

use crate::window::congestion::{
    AckSample, Congestion, initial_window, least_threshold, may_grow, slow_start,
};

/// The state of Reno.
#[derive(Clone, Debug)]
pub struct Reno {
    mss: Bytes,
    window: Bytes,
    threshold: Bytes,
    /// Bytes acknowledged in congestion avoidance for which the window has not
    /// grown yet.
    credit: Bytes,
}

impl Reno {
    /// A fresh state for segments of `mss`.
    #[must_use]
    pub const fn new(mss: Bytes) -> Self {
        Self {
            mss,
            window: initial_window(mss),
            threshold: Bytes::MAX,
            credit: Bytes::ZERO,
        }
    }

    fn halve(&mut self) {
        self.threshold = self.window.scale(0.5).max(least_threshold(self.mss));
        self.credit = Bytes::ZERO;
    }
}

impl Congestion for Reno {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        let is_slow_start = self.window < self.threshold;
        if !may_grow(sample, self.window, is_slow_start) {
            return;
        }
        let mut acked = sample.acked;
        if is_slow_start {
            acked = slow_start(&mut self.window, self.threshold, acked);
        }
        // The window grows by one segment for each window acknowledged
        // (RFC 5681, equation 3, counting bytes).
        self.credit += acked;
        while self.credit >= self.window {
            self.credit -= self.window;
            self.window += self.mss;
        }
    }

    fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {
        self.halve();
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.halve();
        }
        // The loss window (RFC 5681, section 3.1).
        self.window = self.mss;
    }

    fn window(&self) -> Bytes {
        self.window
    }
}
