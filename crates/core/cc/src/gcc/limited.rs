//! Detection of an application that sends much less than it may (`AlrDetector`, `IntervalBudget`).

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::config::Config;

/// Longest time for which a budget saves up (`kWindowMs`).
const WINDOW: TimeDelta = TimeDelta::from_millis(500);

/// A budget that fills at a share of the target and that sending uses up.
#[derive(Debug)]
pub(super) struct Limited {
    rate: Rate,
    most: f64,
    /// Rest of the budget, in bytes; negative when more was sent than it held.
    left: f64,
    last: Option<Time>,
    since: Option<Time>,
}

impl Limited {
    pub(super) fn new(config: &Config, rate: Rate) -> Self {
        let mut limited = Self {
            rate,
            most: 0.0,
            left: 0.0,
            last: None,
            since: None,
        };
        limited.set_rate(config, rate);
        limited
    }

    /// Returns the time since which the stream is application-limited; `None` if it is not.
    pub(super) const fn since(&self) -> Option<Time> {
        self.since
    }

    /// Sets the target to `rate`.
    pub(super) fn set_rate(&mut self, config: &Config, rate: Rate) {
        self.rate = rate.scale(config.limited_share);
        self.most = self.rate.as_mbps() * 1e6 / 8.0 * WINDOW.as_secs();
        self.left = self.left.clamp(-self.most, self.most);
    }

    /// Takes a packet of `size` that was sent at `now`.
    pub(super) fn sent(&mut self, config: &Config, now: Time, size: Bytes) {
        let since = now.since(self.last.unwrap_or(now));
        self.last = Some(now);
        let used = (self.left - size.get() as f64).max(-self.most);
        let saved = self.rate.as_mbps() * 1e6 / 8.0 * since.as_secs();
        self.left = (used + saved).min(self.most);
        let ratio = if self.most > 0.0 {
            self.left / self.most
        } else {
            0.0
        };
        if ratio > config.limited_start {
            self.since.get_or_insert(now);
        } else if ratio < config.limited_stop {
            self.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends at `kbps` for 3 s, from `from` in ms. Returns how many ms later the stream is first
    /// application-limited; `None` if it never is.
    fn begins(limited: &mut Limited, from: u64, kbps: u64) -> Option<u64> {
        let mut begins = None;
        for ms in (from..from + 3_000).step_by(10) {
            let size = Bytes::new(kbps * 10 / 8);
            limited.sent(&Config::default(), Time::from_millis(ms), size);
            if limited.since().is_some() {
                begins = begins.or(Some(ms - from));
            }
        }
        begins
    }

    /// At 200 kbit/s, a budget that fills at 650 kbit/s has saved 80 % of 500 ms after
    /// `400 * 650/450` ms.
    #[test]
    fn a_stream_that_uses_little_is_limited_until_it_uses_more() {
        let mut limited = Limited::new(&Config::default(), Rate::from_kbps(1_000));
        let begun = begins(&mut limited, 0, 200).unwrap();
        assert!((570..=600).contains(&begun), "{begun} ms");
        assert!(limited.since().is_some());
        begins(&mut limited, 3_000, 900);
        assert_eq!(limited.since(), None);
    }

    #[test]
    fn a_stream_that_uses_its_share_is_not() {
        let mut limited = Limited::new(&Config::default(), Rate::from_kbps(1_000));
        assert_eq!(begins(&mut limited, 0, 660), None);
    }
}
