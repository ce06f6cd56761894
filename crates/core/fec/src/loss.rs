//! Estimates a two-state model of losses from counts with a limited memory.
//!
//! In Gilbert's model (1960; without losses in the good state and without arrivals in the bad one),
//! a packet is lost with one probability after a packet that arrived, and with another after a
//! packet that was lost. The two probabilities give the share of packets lost and the length of
//! bursts; losses are independent if the two are equal.
//!
//! Counts are kept over two memories, [`LONG`] and [`SHORT`]. From the long one, the upper limit of
//! the uncertainty of a first loss is used, because a few packets cannot show that there is no
//! loss. From the short one, the lower limit is used, so that it only says that there is more loss
//! than before when that is certain. The model with more loss counts.

use mimosa_facts::Loss;
use mimosa_units::{Time, TimeDelta};

/// Memory of the long counts. A share of late frames of one in a thousand shows after a thousand
/// frames, which are 17 s at 60 frames a second. Our choice.
const LONG: TimeDelta = TimeDelta::from_millis(30_000);
/// Memory of the short counts: more loss should be known within a second. Our choice.
const SHORT: TimeDelta = TimeDelta::from_millis(1_000);
/// Initial count of packets that arrived. Our choice: about a second's.
const ARRIVED_BEFORE: f64 = 1_000.0;
/// Initial count of single losses, so that bursts are only assumed after several were seen. Our
/// choice.
const SINGLE_BEFORE: f64 = 4.0;
/// Distance of the limits of the uncertainty, in standard deviations (Wilson, 1927). Our choice.
const DEVIATIONS: f64 = 1.0;
/// Distance of the upper limit until a packet is lost, in standard deviations. A path that seldom loses
/// has one late frame by its first loss, which brings the limit up; what protects that frame costs each
/// frame until then a repair packet, at one late frame of a thousand for 250 frames. With a whole
/// deviation it would be 1000 frames. Our choice.
const UNSEEN: f64 = 0.5;

/// Counts with exponential forgetting: after each `memory`, a share of 1 / e is left.
#[derive(Clone, Copy, Debug)]
struct Counts {
    memory: TimeDelta,
    /// Packets after one that arrived, and how many of them were lost.
    after_arrived: f64,
    begun: f64,
    /// Packets after one that was lost, and how many of them arrived.
    after_lost: f64,
    ended: f64,
}

impl Counts {
    const fn new(memory: TimeDelta, after_arrived: f64) -> Self {
        Self {
            memory,
            after_arrived,
            begun: 0.0,
            after_lost: 0.0,
            ended: 0.0,
        }
    }

    fn forget(&mut self, time: TimeDelta) {
        let left = libm::exp(-time.ratio(self.memory));
        for count in [
            &mut self.after_arrived,
            &mut self.begun,
            &mut self.after_lost,
            &mut self.ended,
        ] {
            *count *= left;
        }
    }

    fn add(&mut self, was_lost: bool, is_lost: bool) {
        if was_lost {
            self.after_lost += 1.0;
            self.ended += f64::from(u8::from(!is_lost));
        } else {
            self.after_arrived += 1.0;
            self.begun += f64::from(u8::from(is_lost));
        }
    }

    /// The model of losses, with the probability of a first loss `side` deviations from its middle.
    fn loss(&self, side: f64) -> Loss {
        Loss {
            begins: wilson(self.begun, self.after_arrived, side),
            ends: (self.ended + SINGLE_BEFORE) / (self.after_lost + SINGLE_BEFORE),
        }
    }
}

/// A limit of Wilson's interval for `hits` among `trials`, `side` deviations from its middle.
fn wilson(hits: f64, trials: f64, side: f64) -> f64 {
    if trials <= 0.0 {
        return 0.0;
    }
    let square = side * side;
    let spread = (hits * (trials - hits).max(0.0) / trials + square / 4.0).sqrt();
    ((hits + square / 2.0 + side * spread) / (trials + square)).clamp(0.0, 1.0)
}

/// Estimates how packets are lost from their fates, in the order of departure.
#[derive(Clone, Copy, Debug)]
pub struct LossEstimator {
    long: Counts,
    short: Counts,
    /// The departure of the packet before, and whether it was lost.
    before: Option<(Time, bool)>,
    /// Whether any packet was lost so far.
    has_lost: bool,
}

impl Default for LossEstimator {
    fn default() -> Self {
        Self {
            long: Counts::new(LONG, ARRIVED_BEFORE),
            short: Counts::new(SHORT, 0.0),
            before: None,
            has_lost: false,
        }
    }
}

impl LossEstimator {
    /// Takes the fate of the next packet, which left at `sent`.
    pub fn packet(&mut self, sent: Time, is_lost: bool) {
        if let Some((before, was_lost)) = self.before {
            let time = sent.since(before).max(TimeDelta::ZERO);
            for counts in [&mut self.long, &mut self.short] {
                counts.forget(time);
                counts.add(was_lost, is_lost);
            }
        }
        self.before = Some((sent, is_lost));
        self.has_lost |= is_lost;
    }

    /// The estimated model of losses.
    #[must_use]
    pub fn loss(&self) -> Loss {
        let above = if self.has_lost { DEVIATIONS } else { UNSEEN };
        let (long, short) = (self.long.loss(above), self.short.loss(-DEVIATIONS));
        if short.rate() > long.rate() {
            short
        } else {
            long
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `packets` packets a millisecond apart, from `from` on, lost as `is_lost` says.
    fn feed(
        estimator: &mut LossEstimator,
        from: u64,
        packets: u64,
        mut is_lost: impl FnMut(u64) -> bool,
    ) {
        for n in 0..packets {
            estimator.packet(Time::from_millis(from + n), is_lost(n));
        }
    }

    #[test]
    fn without_losses_the_belief_goes_down_with_what_was_seen() {
        let mut estimator = LossEstimator::default();
        let first = estimator.loss();
        // An upper limit of 0.25 among 1000.25, and a loss that ends with the next packet.
        assert!((first.rate() - 0.25 / 1_000.5).abs() < 1e-9, "{first:?}");
        assert!((first.ends - 1.0).abs() < 1e-9);
        feed(&mut estimator, 0, 1_000, |_| false);
        let second = estimator.loss().rate();
        // 1000 e^(-1/30) + 30000 (1 - e^(-1/30)) = 1950.9 packets, none of which was lost.
        assert!((1.278e-4..1.285e-4).contains(&second), "{second}");
        // The memory is worth 30 s of packets: 30000 of them.
        feed(&mut estimator, 1_000, 300_000, |_| false);
        let last = estimator.loss().rate();
        assert!((8.0e-6..8.5e-6).contains(&last), "{last}");
    }

    /// A first loss brings the limit up at once, and after one that is as good as forgotten the limit is
    /// four times what it is without any.
    #[test]
    fn the_first_loss_brings_the_limit_up_for_good() {
        let mut estimator = LossEstimator::default();
        feed(&mut estimator, 0, 60_000, |_| false);
        let before = estimator.loss().rate();
        feed(&mut estimator, 60_000, 1, |_| true);
        let after = estimator.loss().rate();
        assert!(after > 10.0 * before, "{before} {after}");
        let mut never = estimator;
        never.has_lost = false;
        for estimator in [&mut estimator, &mut never] {
            feed(estimator, 60_001, 600_000, |_| false);
        }
        let (later, never) = (estimator.loss().rate(), never.loss().rate());
        assert!((3.9..4.1).contains(&(later / never)), "{later} {never}");
    }

    #[test]
    fn rate_and_burst_are_found() {
        // Every 100th packet is lost; then four in a row in each 400.
        for (period, length) in [(100, 1), (400, 4)] {
            let mut estimator = LossEstimator::default();
            feed(&mut estimator, 0, 120_000, |n| n % period < length);
            let loss = estimator.loss();
            let burst = length as f64;
            assert!((0.01..0.013).contains(&loss.rate()), "{loss:?}");
            assert!((0.9 * burst..=burst).contains(&loss.burst()), "{loss:?}");
        }
    }

    /// A link that begins to lose a twentieth of its packets is recognised within two seconds, and
    /// considered good again after a few minutes without loss.
    #[test]
    fn a_change_for_the_worse_is_soon_known() {
        let mut estimator = LossEstimator::default();
        feed(&mut estimator, 0, 60_000, |_| false);
        feed(&mut estimator, 60_000, 2_000, |n| n % 20 == 0);
        let worse = estimator.loss().rate();
        assert!((0.035..0.055).contains(&worse), "{worse}");
        feed(&mut estimator, 62_000, 10_000, |_| false);
        let soon = estimator.loss().rate();
        assert!((1e-3..4e-3).contains(&soon), "{soon}");
        feed(&mut estimator, 72_000, 290_000, |_| false);
        let late = estimator.loss().rate();
        assert!((3e-5..5e-5).contains(&late), "{late}");
    }

    /// Wilson's interval by hand: 10 of 100, one deviation: (10.5 ± sqrt(9.25)) / 101.
    #[test]
    fn limits_are_wilsons() {
        assert!((wilson(10.0, 100.0, 1.0) - (10.5 + 9.25_f64.sqrt()) / 101.0).abs() < 1e-12);
        assert!((wilson(10.0, 100.0, -1.0) - (10.5 - 9.25_f64.sqrt()) / 101.0).abs() < 1e-12);
        assert!(wilson(0.0, 100.0, -1.0).abs() < 1e-12);
        assert!(wilson(0.0, 0.0, 1.0).abs() < 1e-12);
    }
}
