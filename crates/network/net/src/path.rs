//! The way from a link to a host: propagation, jitter, loss, reordering, remarking.

use mimosa_units::{Ecn, Time, TimeDelta};

use crate::random::Random;

/// Delay that varies without changing the order of packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Jitter {
    /// RFC 8868, section 4.5.2 (NR-BPDV) with the truncated normal of section
    /// 4.5.3: |N(0, deviation)|, at most `most`; a packet never overtakes.
    Normal {
        /// Standard deviation before truncation.
        deviation: TimeDelta,
        /// Largest extra delay.
        most: TimeDelta,
    },
    /// Arrivals are held for `length` once in every `every` and then come all
    /// at once (Pudica, appendix F). The first time is at `every`.
    Block {
        /// How long nothing arrives.
        length: TimeDelta,
        /// From the beginning of one block to the next.
        every: TimeDelta,
    },
    /// As somebody measured it: the delay exceeded by half of the packets, by one in a
    /// hundred, by one in a thousand and by none, straight in between, and nothing at
    /// the least. Each packet's is drawn alone; a packet never overtakes.
    Quantiles {
        /// The median.
        p50: TimeDelta,
        /// The 99th percentile.
        p99: TimeDelta,
        /// The 99.9th percentile.
        p999: TimeDelta,
        /// The largest.
        most: TimeDelta,
    },
}

impl Jitter {
    /// The delay at `share`, from 0 to 1, of a distribution given by its quantiles.
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

/// Which packets vanish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossModel {
    /// Each with the same probability, independently.
    Random(f64),
    /// Gilbert and Elliott's two states. Each packet first may change the
    /// state, then is lost with that state's probability.
    GilbertElliott {
        /// From the good state to the bad one.
        to_bad: f64,
        /// And back.
        to_good: f64,
        /// Loss in the good state.
        loss_good: f64,
        /// Loss in the bad state.
        loss_bad: f64,
    },
}

/// Packets that are overtaken by later ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reordering {
    /// Share of packets that take the longer way.
    pub share: f64,
    /// How much longer it is.
    pub extra: TimeDelta,
}

/// What a path does to packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathConfig {
    /// Propagation, one way.
    pub delay: TimeDelta,
    /// Varying delay on top.
    pub jitter: Option<Jitter>,
    /// Loss after the link.
    pub loss: LossModel,
    /// Reordering.
    pub reordering: Option<Reordering>,
    /// The ECN field that ECN-capable packets arrive with, in place of their own.
    pub remark: Option<Ecn>,
}

/// One flow's path in one direction.
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
    /// A path whose randomness is the run's `seed` and the path's `name`.
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

    /// What it does to packets.
    #[must_use]
    pub const fn config(&self) -> &PathConfig {
        &self.config
    }

    /// Does `config` to packets from now on. One that would overtake another still
    /// waits for it.
    pub fn set_config(&mut self, config: PathConfig) {
        self.config = config;
    }

    /// The ECN field with which a packet arrives that had `ecn`.
    #[must_use]
    pub const fn remark(&self, ecn: Ecn) -> Ecn {
        match self.config.remark {
            Some(other) if ecn.is_capable() => other,
            _ => ecn,
        }
    }

    /// Sends a packet that leaves the link at `left`. `conditions` are the
    /// link's own for this moment, where it states them: propagation in place
    /// of the path's, and random loss on top of it.
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
            // It stands aside: those behind it are not held up.
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

/// `at`, or the end of the block that it falls into.
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
        // A millisecond apart, so that none waits for the one before it.
        let at: Vec<_> = arrivals(config, 100_000).into_iter().flatten().collect();
        assert!(at.is_sorted());
        let extra = |(sent, at): (usize, &Time)| at.since(Time::from_millis(sent as u64 + 10));
        let mut extra: Vec<_> = at.iter().enumerate().map(extra).collect();
        extra.sort_unstable();
        let near = |rank: usize, expected: i64, off: i64| {
            let delay = extra[rank].as_nanos() / 1_000;
            assert!((delay - expected).abs() <= off, "{delay} at {rank}");
        };
        // Three standard errors of a rank among 100 000, times the slope beside it.
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
