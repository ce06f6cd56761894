//! Detection of a policer that limits the rate: Linux `bbr_lt_bw_sampling`.
//!
//! There is a policer if two intervals in a row, of four to sixteen rounds,
//! have the same rate, and in each the losses are at least a fifth of what
//! arrived. The mean of the two rates is then believed for 48 rounds.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The fewest rounds of an interval: Linux `bbr_lt_intvl_min_rtts`.
const LEAST_ROUNDS: u32 = 4;
/// The most rounds of an interval: four times the fewest.
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Ratio of bytes lost to bytes delivered from which losses are heavy: Linux
/// `bbr_lt_loss_thresh`.
const LOSS: f64 = 50.0 / 256.0;
/// Difference of two rates, relative to the first, up to which they count as
/// the same: Linux `bbr_lt_bw_ratio`.
const SAME_RATIO: f64 = 1.0 / 8.0;
/// Difference of two rates up to which they always count as the same: Linux
/// `bbr_lt_bw_diff`.
const SAME_RATE: Rate = Rate::from_kbps(4);
/// Rounds for which the rate of a policer is believed: Linux
/// `bbr_lt_bw_max_rtts`.
const BELIEVED_ROUNDS: u32 = 48;
/// The shortest interval from which a rate is computed.
const LEAST_TIME: TimeDelta = TimeDelta::from_millis(1);

/// What one acknowledgement or one timeout tells about a policer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence {
    pub(super) round_begins: bool,
    pub(super) has_lost: bool,
    pub(super) is_app_limited: bool,
    /// Bytes delivered since the connection began.
    pub(super) delivered: Bytes,
}

/// The detector of policers.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    /// The rate of the last interval with heavy loss.
    rate: Option<Rate>,
    is_believed: bool,
    is_sampling: bool,
    rounds: u32,
    /// Bytes lost since the connection began.
    lost: Bytes,
    /// When the interval began.
    start: Time,
    /// Bytes lost by the start of the interval.
    start_lost: Bytes,
    /// Bytes delivered by the start of the interval.
    start_delivered: Bytes,
}

impl Policer {
    /// The rate of the policer; `None` if none is detected.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate.filter(|_| self.is_believed)
    }

    pub(super) fn on_segment_lost(&mut self, length: Bytes) {
        self.lost += length;
    }

    /// Takes evidence. Returns whether a rate has just ceased to be believed,
    /// so that probing should begin anew.
    pub(super) fn update(&mut self, now: Time, is_probe_bw: bool, evidence: &Evidence) -> bool {
        if self.is_believed {
            self.rounds += u32::from(is_probe_bw && evidence.round_begins);
            let is_over = self.rounds >= BELIEVED_ROUNDS;
            if is_over {
                self.reset();
            }
            return is_over;
        }
        if !self.is_sampling {
            // The first loss says that the policer's tokens are used up.
            if !evidence.has_lost {
                return false;
            }
            self.begin(now, evidence.delivered);
            self.is_sampling = true;
        }
        if evidence.is_app_limited {
            self.reset();
            return false;
        }
        self.rounds += u32::from(evidence.round_begins);
        if self.rounds > MOST_ROUNDS {
            self.reset();
        } else if self.rounds >= LEAST_ROUNDS && evidence.has_lost {
            self.end(now, evidence.delivered);
        }
        false
    }

    /// Ends the interval, if its losses are heavy.
    fn end(&mut self, now: Time, total: Bytes) {
        let lost = self.lost - self.start_lost;
        let delivered = total - self.start_delivered;
        let time = now.since(self.start);
        if delivered == Bytes::ZERO || lost < delivered.scale(LOSS) || time < LEAST_TIME {
            return;
        }
        let rate = Rate::of(delivered, time);
        if let Some(before) = self.rate {
            let difference = (rate - before).max(before - rate);
            if difference <= before.scale(SAME_RATIO) || difference <= SAME_RATE {
                self.rate = Some((rate + before).scale(0.5));
                self.is_believed = true;
                self.rounds = 0;
                return;
            }
        }
        self.rate = Some(rate);
        self.begin(now, total);
    }

    const fn begin(&mut self, now: Time, delivered: Bytes) {
        self.start = now;
        self.start_lost = self.lost;
        self.start_delivered = delivered;
        self.rounds = 0;
    }

    fn reset(&mut self) {
        *self = Self {
            lost: self.lost,
            ..Self::default()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `policer` rounds of 10 ms that deliver 10 kB and lose `lost`
    /// bytes. Returns whether probing begins anew.
    fn rounds(policer: &mut Policer, numbers: std::ops::Range<u64>, lost: u64) -> bool {
        let mut is_over = false;
        for number in numbers {
            policer.on_segment_lost(Bytes::new(lost));
            let evidence = Evidence {
                round_begins: true,
                has_lost: lost > 0,
                is_app_limited: false,
                delivered: Bytes::new(number * 10_000),
            };
            is_over |= policer.update(Time::from_millis(number * 10), true, &evidence);
        }
        is_over
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_are_a_policer_for_48_rounds() {
        let mut policer = Policer::default();
        rounds(&mut policer, 0..10, 0);
        assert!(!policer.is_sampling, "nothing was lost");
        rounds(&mut policer, 10..14, 2_500);
        assert_eq!(policer.rate(), None, "one interval");
        rounds(&mut policer, 14..18, 2_500);
        assert_eq!(policer.rate(), Some(Rate::from_kbps(8_000)));
        assert!(!rounds(&mut policer, 18..65, 0));
        assert!(policer.rate().is_some());
        assert!(rounds(&mut policer, 65..66, 0));
        assert_eq!(policer.rate(), None);
    }

    #[test]
    fn light_losses_and_an_idle_application_are_no_policer() {
        let mut policer = Policer::default();
        rounds(&mut policer, 0..40, 1_500);
        assert_eq!(policer.rate(), None, "15 % are lost");
        let mut policer = Policer::default();
        rounds(&mut policer, 0..6, 2_500);
        let limited = Evidence {
            round_begins: true,
            has_lost: true,
            is_app_limited: true,
            delivered: Bytes::new(60_000),
        };
        policer.update(Time::from_millis(60), true, &limited);
        assert!(!policer.is_sampling && policer.rate.is_none());
    }
}
