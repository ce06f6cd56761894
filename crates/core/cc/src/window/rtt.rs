//! Round-trip times and the retransmission timeout: RFC 6298.
//!
//! *Deviations*: as in Linux (`tcp_rtt_estimator`), the least timeout is not
//! one second but the smoothed round trip plus 200 ms, and the greatest 120 s.
//! Every acknowledgement carries a timestamp, so each gives a sample and Karn's
//! rule is not needed.

use mimosa_units::{Time, TimeDelta};

/// The timeout before the first sample (RFC 6298, rule 2.1).
const INITIAL_TIMEOUT: TimeDelta = TimeDelta::from_millis(1_000);
/// The least allowance for variance in the timeout: Linux `TCP_RTO_MIN`.
const MIN_TIMEOUT: TimeDelta = TimeDelta::from_millis(200);
/// The longest timeout, doubling included: Linux `TCP_RTO_MAX`.
const MAX_TIMEOUT: TimeDelta = TimeDelta::from_millis(120_000);
/// How long a minimum of the round trip is believed: Linux `tcp_min_rtt_wlen`,
/// 300 s.
const MIN_MEMORY: TimeDelta = TimeDelta::from_millis(300_000);

/// Estimates of a connection's round trip, and the retransmission timeout that
/// follows from them.
#[derive(Clone, Debug, Default)]
pub struct Rtt {
    smoothed: Option<TimeDelta>,
    variance: TimeDelta,
    minimum: Option<(Time, TimeDelta)>,
    doublings: u32,
}

impl Rtt {
    /// Takes a sample of the round trip for the timeout. It includes delays of
    /// the acknowledgement.
    pub fn sample(&mut self, rtt: TimeDelta) {
        if let Some(smoothed) = self.smoothed {
            // Rule 2.3: beta = 1/4, alpha = 1/8.
            let error = smoothed - rtt;
            let error = error.max(-error);
            self.variance = self.variance + (error - self.variance) / 4;
            self.smoothed = Some(smoothed + (rtt - smoothed) / 8);
        } else {
            self.smoothed = Some(rtt);
            self.variance = rtt / 2;
        }
    }

    /// Takes a sample of the round trip for the minimum. It is that of the
    /// newest packet, for which the acknowledgement was delayed least.
    pub fn sample_minimum(&mut self, now: Time, rtt: TimeDelta) {
        let is_lower = self
            .minimum
            .is_none_or(|(at, minimum)| rtt <= minimum || now.since(at) > MIN_MEMORY);
        if is_lower {
            self.minimum = Some((now, rtt));
        }
    }

    /// The smoothed round trip; `None` before the first sample.
    #[must_use]
    pub const fn smoothed(&self) -> Option<TimeDelta> {
        self.smoothed
    }

    /// The smallest round trip; `None` before the first sample. After 300 s the
    /// next sample replaces it.
    #[must_use]
    pub fn minimum(&self) -> Option<TimeDelta> {
        self.minimum.map(|(_, minimum)| minimum)
    }

    /// The retransmission timeout, doublings included.
    #[must_use]
    pub fn timeout(&self) -> TimeDelta {
        let timeout = self.smoothed.map_or(INITIAL_TIMEOUT, |smoothed| {
            smoothed + (self.variance * 4).max(MIN_TIMEOUT)
        });
        (timeout * 2_u32.saturating_pow(self.doublings)).min(MAX_TIMEOUT)
    }

    /// Doubles the timeout (rule 5.5).
    pub fn double(&mut self) {
        // 2^17 times the least timeout is past the maximum already.
        self.doublings = (self.doublings + 1).min(17);
    }

    /// Whether the timeout is doubled: nothing was acknowledged since the timer
    /// last expired.
    #[must_use]
    pub const fn is_doubled(&self) -> bool {
        self.doublings > 0
    }

    /// Ends the doubling of the timeout, because something was acknowledged.
    pub const fn reset_doubling(&mut self) {
        self.doublings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_the_samples_and_doubles() {
        let ms = TimeDelta::from_millis;
        let mut rtt = Rtt::default();
        assert_eq!(rtt.timeout(), ms(1000));
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300), "100 + 4 * 50");
        rtt.sample(ms(100));
        assert_eq!(rtt.timeout(), ms(300), "not below 200 ms");
        rtt.double();
        rtt.double();
        assert_eq!(rtt.timeout(), ms(1200));
        for _ in 0..100 {
            rtt.double();
        }
        assert_eq!(rtt.timeout(), MAX_TIMEOUT);
        rtt.reset_doubling();
        assert_eq!(rtt.timeout(), ms(300));
    }
}
