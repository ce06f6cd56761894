//! The rate at which packets arrive (`AcknowledgedBitrateEstimator`,
//! `BitrateEstimator`): a Bayesian estimate over short windows.

use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use super::config::Config;

/// First variance of the estimate, in (kbit/s)^2 like all variances here (`bitrate_estimate_var_`).
const FIRST_VARIANCE: f64 = 50.0;
/// Variance that each sample adds, because the rate changes with time (`UpdateBitrate`).
const DRIFT: f64 = 5.0;
/// Standard deviation of a sample, in kbit/s, per unit of its relative distance from the estimate
/// (`uncertainty_scale`).
const UNCERTAINTY: f64 = 10.0;
/// Variance that the end of an application-limited time adds (`ExpectFastRateChange`).
const FAST_CHANGE: f64 = 200.0;
/// Smallest estimate, in kbit/s: the estimate is a divisor.
const LEAST: f64 = 1e-3;

/// An estimate of the rate at which packets arrive.
#[derive(Debug)]
pub(super) struct Acknowledged {
    kbps: Option<f64>,
    variance: f64,
    last: Option<PeerTime>,
    in_window: TimeDelta,
    bytes: Bytes,
    limited_until: Option<Time>,
}

impl Acknowledged {
    pub(super) const fn new() -> Self {
        Self {
            kbps: None,
            variance: FIRST_VARIANCE,
            last: None,
            in_window: TimeDelta::ZERO,
            bytes: Bytes::ZERO,
            limited_until: None,
        }
    }

    /// Returns the estimate; `None` before the first window is full.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.kbps.map(|kbps| Rate::from_mbps(kbps / 1e3))
    }

    /// Records that packets sent after `now` are no longer application-limited.
    pub(super) const fn limited_ended(&mut self, now: Time) {
        self.limited_until = Some(now);
    }

    /// Takes a packet of `size` that was sent at `sent` and arrived at `at`.
    pub(super) fn add(&mut self, config: &Config, sent: Time, at: PeerTime, size: Bytes) {
        if self.limited_until.is_some_and(|until| sent > until) {
            self.variance += FAST_CHANGE;
            self.limited_until = None;
        }
        let window = if self.kbps.is_none() {
            config.first_rate_window
        } else {
            config.rate_window
        };
        let sample = self.window(at, size, window);
        if let Some(sample) = sample {
            self.update(sample);
        }
    }

    /// Counts a packet. Returns the rate of the window that it ends, in kbit/s; `None` if it ends
    /// none.
    fn window(&mut self, at: PeerTime, size: Bytes, window: TimeDelta) -> Option<f64> {
        let since = self.last.map(|last| at - last);
        if since.is_some_and(|since| since < TimeDelta::ZERO) {
            self.bytes = Bytes::ZERO;
            self.in_window = TimeDelta::ZERO;
        } else if let Some(since) = since {
            self.in_window += since;
            if since > window {
                self.bytes = Bytes::ZERO;
                let rest = self.in_window.as_nanos() % window.as_nanos().max(1);
                self.in_window = TimeDelta::from_nanos(rest);
            }
        }
        self.last = Some(at);
        let sample = (self.in_window >= window).then(|| {
            let bits = self.bytes.get() as f64 * 8.0;
            self.in_window = self.in_window - window;
            self.bytes = Bytes::ZERO;
            bits / window.as_secs() / 1e3
        });
        self.bytes += size;
        sample
    }

    fn update(&mut self, sample: f64) {
        let Some(kbps) = &mut self.kbps else {
            self.kbps = Some(sample.max(LEAST));
            return;
        };
        let uncertainty = UNCERTAINTY * (*kbps - sample).abs() / *kbps;
        let of_sample = uncertainty * uncertainty;
        let predicted = self.variance + DRIFT;
        let sum = of_sample + predicted;
        *kbps = ((of_sample * *kbps + predicted * sample) / sum).max(LEAST);
        self.variance = of_sample * predicted / sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a packet of `size` bytes every 10 ms, from `from` to `to` in ms; 1250 B make 1 Mbit/s.
    fn feed(rate: &mut Acknowledged, from: u64, to: u64, size: u64) {
        for ms in (from..to).step_by(10) {
            let at = PeerTime::from_nanos(7_000_000_000 + ms.cast_signed() * 1_000_000);
            let size = Bytes::new(size);
            rate.add(&Config::default(), Time::from_millis(ms), at, size);
        }
    }

    #[test]
    fn half_a_second_makes_the_first_estimate() {
        let mut rate = Acknowledged::new();
        feed(&mut rate, 0, 500, 1_250);
        assert_eq!(rate.rate(), None);
        feed(&mut rate, 500, 510, 1_250);
        assert_eq!(rate.rate(), Some(Rate::from_kbps(1_000)));
    }

    /// A sample of 500 kbit/s meets an estimate of 1000 kbit/s with variance 50. The sample's
    /// variance is (10 * 500 / 1000)^2 = 25, so the new estimate is (25 * 1000 + 55 * 500) / 80.
    #[test]
    fn a_sample_weighs_less_the_further_it_is() {
        let mut rate = Acknowledged::new();
        rate.update(1_000.0);
        rate.update(500.0);
        assert_eq!(rate.rate(), Some(Rate::from_bps(656_250)));
        assert!((rate.variance - 25.0 * 55.0 / 80.0).abs() < 1e-9);
    }

    #[test]
    fn after_an_application_limited_time_the_estimate_moves_fast() {
        let moved = |is_over: bool| {
            let mut rate = Acknowledged::new();
            feed(&mut rate, 0, 3_000, 1_250);
            if is_over {
                rate.limited_ended(Time::from_millis(2_999));
            }
            feed(&mut rate, 3_000, 3_310, 3_750);
            rate.rate().unwrap().as_mbps()
        };
        assert!(
            moved(true) > 2.0 && moved(false) < 1.6,
            "{} {}",
            moved(true),
            moved(false)
        );
    }

    #[test]
    fn silence_and_zero_are_no_trouble() {
        let mut rate = Acknowledged::new();
        feed(&mut rate, 0, 1_000, 0);
        feed(&mut rate, 60_000, 61_000, 0);
        feed(&mut rate, 0, 1_000, 1_250);
        assert!(rate.rate().unwrap() <= Rate::from_kbps(1_000));
        assert!(rate.variance.is_finite());
    }
}
