//! The least time between two segments.
//!
//! *Deviations*: Linux (`sch_fq`, `tcp_tso_autosize`) releases bursts of about
//! a millisecond; here each segment is spaced alone. The rate is of payload.

use mimosa_units::{Bytes, Rate, Time};

#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    next: Time,
}

impl Pacer {
    pub(crate) fn is_ready(&self, now: Time) -> bool {
        self.next <= now
    }

    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    pub(crate) fn on_sent(&mut self, now: Time, length: Bytes, rate: Option<Rate>) {
        match rate {
            Some(rate) if rate > Rate::ZERO => {
                self.next = self.next.max(now) + rate.transmit_time(length);
            }
            _ => self.next = now,
        }
    }

    /// Forgets what was sent: the timer for the next segment has no meaning
    /// after a timeout.
    pub(crate) const fn reset(&mut self) {
        self.next = Time::ZERO;
    }
}
