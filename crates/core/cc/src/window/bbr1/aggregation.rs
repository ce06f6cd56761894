//! The amount that is acknowledged at once beyond what the rate explains: Linux
//! `bbr_update_ack_aggregation`, since 5.1.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Rounds that each of the two halves of the memory covers: Linux
/// `bbr_extra_acked_win_rtts`.
const HALF_ROUNDS: u32 = 5;
/// The largest excess that counts, as time at the rate: Linux
/// `bbr_extra_acked_max_us`.
const MOST: TimeDelta = TimeDelta::from_millis(100);

/// The greatest excess of acknowledged bytes in the last five to ten rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    /// When acknowledgements last came as slowly as expected.
    start: Time,
    /// Bytes acknowledged since `start`.
    acked: Bytes,
    /// The greatest excess in the current half of the memory, and in the half
    /// before.
    extra: [Bytes; 2],
    rounds: u32,
}

impl Aggregation {
    /// Restarts the count of acknowledged bytes, as after idling.
    pub(super) const fn restart(&mut self, now: Time) {
        self.start = now;
        self.acked = Bytes::ZERO;
    }

    /// Takes an acknowledgement of `acked` bytes on a path of `rate`. The
    /// excess is at most `window`.
    pub(super) fn update(
        &mut self,
        now: Time,
        round_begins: bool,
        rate: Rate,
        window: Bytes,
        acked: Bytes,
    ) {
        if round_begins {
            self.rounds += 1;
            if self.rounds >= HALF_ROUNDS {
                self.rounds = 0;
                self.extra = [Bytes::ZERO, self.extra[0]];
            }
        }
        let mut expected = rate.amount_in(now.since(self.start));
        if self.acked <= expected {
            self.restart(now);
            expected = Bytes::ZERO;
        }
        self.acked += acked;
        let extra = (self.acked - expected).min(window);
        self.extra[0] = self.extra[0].max(extra);
    }

    /// Bytes by which the window should be larger, on a path of `rate`.
    pub(super) fn allowance(&self, rate: Rate) -> Bytes {
        self.extra[0].max(self.extra[1]).min(rate.amount_in(MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rate of 1000 bytes per millisecond.
    const RATE: Rate = Rate::from_kbps(8_000);
    const WINDOW: Bytes = Bytes::new(20_000);

    fn at(micros: i64) -> Time {
        Time::from_secs(1) + TimeDelta::from_micros(micros)
    }

    #[test]
    fn the_excess_over_the_rate_counts() {
        let mut aggregation = Aggregation::default();
        let mut acked = |micros, bytes| {
            let bytes = Bytes::new(bytes);
            aggregation.update(at(micros), false, RATE, WINDOW, bytes);
            aggregation.allowance(RATE)
        };
        assert_eq!(acked(0, 2_000), Bytes::new(2_000), "from nothing");
        // 2000 bytes in 2 ms are as expected; then 8000 come in half a
        // millisecond.
        assert_eq!(acked(2_000, 2_000), Bytes::new(2_000));
        assert_eq!(acked(2_500, 6_000), Bytes::new(7_500));
        assert_eq!(acked(30_000, 2_000), Bytes::new(7_500), "remembered");
        assert_eq!(acked(30_001, 90_000), WINDOW, "at most a window");
        assert_eq!(
            aggregation.allowance(Rate::from_kbps(80)),
            Bytes::new(1_000),
            "at most a tenth of a second"
        );
    }

    #[test]
    fn the_excess_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::default();
        aggregation.update(at(0), true, RATE, WINDOW, Bytes::new(9_000));
        for round in 1..=8 {
            let now = at(round * 100_000);
            aggregation.update(now, true, RATE, WINDOW, Bytes::new(1_000));
            assert_eq!(aggregation.allowance(RATE), Bytes::new(9_000), "{round}");
        }
        aggregation.update(at(900_000), true, RATE, WINDOW, Bytes::new(1_000));
        assert_eq!(aggregation.allowance(RATE), Bytes::new(1_000));
    }
}
