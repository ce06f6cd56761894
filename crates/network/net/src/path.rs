//! The path from a link to a host: propagation, jitter, loss, reordering and remarking.

use mimosa_units::{Ecn, Time, TimeDelta};

use crate::random::Random;

/// A varying delay on top of the propagation, which does not change the order of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// RFC 8868, section 4.5.2 (NR-BPDV) with the truncated normal distribution of
    /// section 4.5.3: the delay of each packet is |N(0, deviation)|, at most `most`;
    /// no packet overtakes another.
    Normal {
        /// Standard deviation of the delay before the absolute value and the bound.
        deviation: TimeDelta,
        /// The largest delay.
        most: TimeDelta,
    },
    /// Arrivals are held for `length` once in every `every`, and then come all at once
    /// (Pudica, appendix F). The first block begins at `every`.
    Block {
        /// How long nothing arrives in each block.
        length: TimeDelta,
        /// The time from the beginning of one block to that of the next.
        every: TimeDelta,
    },
    /// A measured distribution of the delay, given by four quantiles: it begins at
    /// zero and is linear between them. The delay of each packet is drawn
    /// independently; no packet overtakes another.
    Quantiles {
        /// The median delay.
        p50: TimeDelta,
        /// The 99th percentile of the delay.
        p99: TimeDelta,
        /// The 99.9th percentile of the delay.
        p999: TimeDelta,
        /// The largest delay.
        most: TimeDelta,
    },
}

impl Jitter {
    /// The quantile of the delay at `share`, from 0 to 1, of the distribution with the
    /// quantiles `knots`.
    fn at(share: f64, knots: [TimeDelta; 4]) -> TimeDelta {
        const SHARES: [f64; 5] = [0.0, 0.5, 0.99, 0.999, 1.0];
        let [p50, p99, p999, most] = knots;
        let delays = [TimeDelta::ZERO, p50, p99, p999, most];
        let upper = SHARES
            .iter()
            .position(|knot| share <= *knot)
            .unwrap_or(SHARES.len() - 1)
            .max(1);
        let (from, to) = (SHARES[upper - 1], SHARES[upper]);
        let (least, greatest) = (delays[upper - 1], delays[upper]);
        least + (greatest - least).scale(((share - from) / (to - from)).clamp(0.0, 1.0))
    }
}

/// How packets are lost on a path. Probabilities are from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each packet is lost with this probability, independently of the others.
    Random(f64),
    /// The model of Gilbert and Elliott, with two states. For each packet the state
    /// may change first; then the packet is lost with the probability of the state.
    GilbertElliott {
        /// Probability that the state changes from good to bad.
        to_bad: f64,
        /// Probability that the state changes from bad to good.
        to_good: f64,
        /// Probability of loss in the good state.
        loss_good: f64,
        /// Probability of loss in the bad state.
        loss_bad: f64,
    },
}

/// Reordering: some packets take longer and are overtaken by later ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Share of packets that take longer, from 0 to 1.
    pub share: f64,
    /// How much longer these packets take.
    pub extra: TimeDelta,
}

/// The properties of a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathConfig {
    /// One-way propagation delay.
    pub delay: TimeDelta,
    /// Varying delay on top of the propagation; `None` for no jitter.
    pub jitter: Option<Jitter>,
    /// Loss on the path, after the link.
    pub loss: LossModel,
    /// Reordering of packets; `None` where packets stay in order.
    pub reordering: Option<Reordering>,
    /// The ECN field with which ECN-capable packets arrive in place of their own;
    /// `None` where they keep theirs.
    pub remark: Option<Ecn>,
}

/// The path of one flow in one direction.
#[derive(Debug)]
pub struct Path {
    config: PathConfig,
    loss: Random,
    jitter: Random,
    reordering: Random,
    bad: bool,
    latest: Time,
}

impl Path {
    /// A path whose random numbers follow from the run's `seed` and the path's `name`.
    #[must_use]
    pub fn new(config: PathConfig, seed: u64, name: &str) -> Self {
        Self {
            config,
            loss: Random::new(seed, &format!("{name} loss")),
            jitter: Random::new(seed, &format!("{name} jitter")),
            reordering: Random::new(seed, &format!("{name} reordering")),
            bad: false,
            latest: Time::ZERO,
        }
    }

    /// The present properties of the path.
    #[must_use]
    pub const fn config(&self) -> &PathConfig {
        &self.config
    }

    /// Replaces the properties of the path for all packets sent from now on. A packet
    /// that would overtake one sent before the change still waits for it.
    pub fn set_config(&mut self, config: PathConfig) {
        self.config = config;
    }

    /// The ECN field with which a packet arrives that entered the path with `ecn`.
    #[must_use]
    pub const fn remark(&self, ecn: Ecn) -> Ecn {
        match self.config.remark {
            Some(other) if ecn.is_capable() => other,
            _ => ecn,
        }
    }

    /// Sends a packet that leaves the link at `left`. Returns when the packet arrives,
    /// or `None` if it is lost. `conditions` are the link's propagation delay and
    /// share of packets lost at this moment, where its schedule states them: the delay
    /// replaces the path's, the loss is in addition to the path's.
    pub fn send(
        &mut self,
        left: Time,
        conditions: (Option<TimeDelta>, Option<f64>),
    ) -> Option<Time> {
        let (delay, loss) = conditions;
        if self.is_lost() || loss.is_some_and(|share| self.loss.chance(share)) {
            return None;
        }
        let plain = left + delay.unwrap_or(self.config.delay);
        let varied = match self.config.jitter {
            None => plain,
            Some(Jitter::Normal { deviation, most }) => {
                plain + deviation.scale(self.jitter.normal().abs()).min(most)
            }
            Some(Jitter::Block { length, every }) => held(plain, length, every),
            Some(Jitter::Quantiles {
                p50,
                p99,
                p999,
                most,
            }) => plain + Jitter::at(self.jitter.uniform(), [p50, p99, p999, most]),
        };
        if let Some(Reordering { share, extra }) = self.config.reordering
            && self.reordering.chance(share)
        {
            // `latest` stays: the packets after this one do not wait for it.
            return Some(varied.max(self.latest) + extra);
        }
        self.latest = self.latest.max(varied);
        Some(self.latest)
    }

    fn is_lost(&mut self) -> bool {
        match self.config.loss {
            LossModel::Random(share) => self.loss.chance(share),
            LossModel::GilbertElliott {
                to_bad,
                to_good,
                loss_good,
                loss_bad,
            } => {
                let change = if self.bad { to_good } else { to_bad };
                self.bad ^= self.loss.chance(change);
                self.loss
                    .chance(if self.bad { loss_bad } else { loss_good })
            }
        }
    }
}

/// When a packet arrives that would arrive at `at` without blocks: at the end of the
/// block that contains `at`, or at `at` itself.
fn held(at: Time, length: TimeDelta, every: TimeDelta) -> Time {
    let every = every.as_nanos().unsigned_abs().max(1);
    let begins = at.as_nanos() - at.as_nanos() % every;
    let ends = Time::from_nanos(begins) + length;
    if begins > 0 && at < ends { ends } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
    const PLAIN: PathConfig = PathConfig {
        delay: TimeDelta::from_millis(10),
        jitter: None,
        loss: LossModel::Random(0.0),
        reordering: None,
        remark: None,
    };

    fn arrivals(config: PathConfig, packets: u64) -> Vec<Option<Time>> {
        let mut path = Path::new(config, 1, "test");
        (0..packets)
            .map(|ms| path.send(Time::from_millis(ms), (None, None)))
            .collect()
    }

    #[test]
    fn a_block_holds_arrivals_and_releases_them_together() {
        let config = PathConfig {
            jitter: Some(Jitter::Block {
                length: MS(40),
                every: MS(500),
            }),
            ..PLAIN
        };
        let at = arrivals(config, 1000);
        for (sent, at) in at.iter().enumerate() {
            let arrives = sent as u64 + 10;
            let expected = match arrives {
                500..540 => 540,
                1000..1040 => 1040,
                _ => arrives,
            };
            assert_eq!(*at, Some(Time::from_millis(expected)), "sent at {sent} ms");
        }
    }

    #[test]
    fn normal_jitter_is_bounded_and_keeps_the_order() {
        let config = PathConfig {
            jitter: Some(Jitter::Normal {
                deviation: MS(5),
                most: MS(15),
            }),
            ..PLAIN
        };
        let at: Vec<_> = arrivals(config, 5000).into_iter().flatten().collect();
        assert!(at.is_sorted());
        let extra = |(sent, at): (usize, &Time)| at.since(Time::from_millis(sent as u64 + 10));
        let most = at.iter().enumerate().map(extra).max().unwrap();
        assert!(most <= MS(15) && most > MS(12), "{most}");
    }

    #[test]
    fn quantiles_are_met_and_the_order_is_kept() {
        let us = TimeDelta::from_micros;
        let config = PathConfig {
            jitter: Some(Jitter::Quantiles {
                p50: us(40),
                p99: us(400),
                p999: us(900),
                most: us(990),
            }),
            ..PLAIN
        };
        // Packets are a millisecond apart, so that none waits for the one before it.
        let at: Vec<_> = arrivals(config, 100_000).into_iter().flatten().collect();
        assert!(at.is_sorted());
        let extra = |(sent, at): (usize, &Time)| at.since(Time::from_millis(sent as u64 + 10));
        let mut extra: Vec<_> = at.iter().enumerate().map(extra).collect();
        extra.sort_unstable();
        let near = |rank: usize, expected: i64, off: i64| {
            let delay = extra[rank].as_nanos() / 1_000;
            assert!((delay - expected).abs() <= off, "{delay} at {rank}");
        };
        // The tolerances are three standard errors of a rank among 100 000, times the slope there.
        near(25_000, 20, 1);
        near(50_000, 40, 4);
        near(99_000, 400, 52);
        near(99_900, 900, 17);
        assert!(extra[99_999] <= us(990));
    }

    #[test]
    fn losses_have_their_share_and_their_bursts() {
        let random = PathConfig {
            loss: LossModel::Random(0.1),
            ..PLAIN
        };
        let bursty = PathConfig {
            loss: LossModel::GilbertElliott {
                to_bad: 0.02,
                to_good: 0.2,
                loss_good: 0.0,
                loss_bad: 1.0,
            },
            ..PLAIN
        };
        let lost = |config| -> Vec<bool> {
            arrivals(config, 50_000)
                .iter()
                .map(Option::is_none)
                .collect()
        };
        let share = |lost: &[bool]| lost.iter().filter(|l| **l).count() as f64 / 50_000.0;
        let runs = |lost: &[bool]| lost.windows(2).filter(|w| !w[0] && w[1]).count() as f64;
        let (random, bursty) = (lost(random), lost(bursty));
        assert!((share(&random) - 0.1).abs() < 0.01);
        assert!((share(&bursty) - 1.0 / 11.0).abs() < 0.01);
        let length = |lost: &[bool]| share(lost) * 50_000.0 / runs(lost);
        assert!((length(&random) - 1.11).abs() < 0.1, "{}", length(&random));
        assert!((length(&bursty) - 5.0).abs() < 0.5, "{}", length(&bursty));
    }

    #[test]
    fn only_what_is_capable_is_remarked() {
        let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
        let seen =
            |remark| all.map(|ecn| Path::new(PathConfig { remark, ..PLAIN }, 1, "").remark(ecn));
        assert_eq!(seen(None), all);
        assert_eq!(seen(Some(Ecn::NotEct)), [Ecn::NotEct; 4]);
        let [not, ..] = all;
        assert_eq!(
            seen(Some(Ecn::Ect0)),
            [not, Ecn::Ect0, Ecn::Ect0, Ecn::Ect0]
        );
    }

    #[test]
    fn reordered_packets_are_overtaken_and_hold_nobody_up() {
        let config = PathConfig {
            reordering: Some(Reordering {
                share: 0.1,
                extra: MS(5),
            }),
            ..PLAIN
        };
        let at: Vec<_> = arrivals(config, 1000).into_iter().flatten().collect();
        let late = at
            .iter()
            .enumerate()
            .filter(|(sent, at)| **at > Time::from_millis(*sent as u64 + 10))
            .count();
        assert!((60..140).contains(&late), "{late}");
        assert!(!at.is_sorted());
    }
}
