//! The radio channel of a cell over time, and who has its slots.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::config::{Others, Rates};
use crate::medium::periods::Periods;
use crate::random::Random;

/// Time over which proportional fairness counts what a station had: 100 slots of 1 ms, a common
/// choice.
const FAIR: TimeDelta = TimeDelta::from_millis(100);
/// What a station counts as having had at least, so that nobody's claim is without bound.
const LEAST_HAD: f64 = 1e4;

/// A channel whose rate follows a Gauss-Markov process: its level is normal, forgets itself with a
/// time constant, and points into a list of rates, each of which is given for an equal part of the
/// time.
#[derive(Debug)]
pub(super) struct Radio {
    rates: Rates,
    level: f64,
    at: Time,
    random: Random,
}

impl Radio {
    pub(super) fn new(rates: Rates, seed: u64, name: &str) -> Self {
        let mut random = Random::new(seed, name);
        Self {
            rates,
            level: random.normal(),
            at: Time::ZERO,
            random,
        }
    }

    /// The rate at `now`, which must not be before the time of the last call.
    pub(super) fn rate(&mut self, now: Time) -> Rate {
        if now > self.at {
            let kept = libm::exp(-now.since(self.at).ratio(self.rates.hold));
            self.level = kept * self.level + (1.0 - kept * kept).sqrt() * self.random.normal();
            self.at = now;
        }
        let uniform = 0.5 * (1.0 + libm::erf(self.level * std::f64::consts::FRAC_1_SQRT_2));
        let count = self.rates.rates.len();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from zero to the number of rates"
        )]
        let index = (uniform * count as f64) as usize;
        let rate = self.rates.rates.get(index.min(count.saturating_sub(1)));
        rate.copied().unwrap_or(Rate::ZERO)
    }
}

/// Another station: its channel, and whether it wants something.
#[derive(Debug)]
struct Other {
    radio: Radio,
    had: f64,
    wants: Periods,
}

/// The slots of the link there, which are given by proportional fairness: to the station whose
/// rate now is highest over what it had.
#[derive(Debug)]
pub(super) struct Slots {
    others: Vec<Other>,
    had: f64,
    at: Time,
    random: Random,
}

impl Slots {
    pub(super) fn new(others: Others, rates: &Rates, seed: u64) -> Self {
        let mut random = Random::new(seed, "cell others");
        let other = |random: &mut Random, number| Other {
            radio: Radio::new(rates.clone(), seed, &format!("cell other {number}")),
            had: LEAST_HAD,
            wants: Periods::new(others.periods, random),
        };
        Self {
            others: (0..others.count)
                .map(|number| other(&mut random, number))
                .collect(),
            had: LEAST_HAD,
            at: Time::ZERO,
            random,
        }
    }

    /// Whether the stream has the slot at `now`, with this `rate` and something to send.
    pub(super) fn are_ours(&mut self, now: Time, rate: Rate, slot: TimeDelta) -> bool {
        if self.others.is_empty() {
            return true;
        }
        let kept = libm::exp(-now.since(self.at).ratio(FAIR));
        self.at = now;
        self.had *= kept;
        let mut best = rate.as_bps() as f64 / self.had.max(LEAST_HAD);
        let mut chosen = None;
        for (number, other) in self.others.iter_mut().enumerate() {
            other.had *= kept;
            if !other.wants.is_on(now, &mut self.random) {
                continue;
            }
            let theirs = other.radio.rate(now).as_bps() as f64;
            let claim = theirs / other.had.max(LEAST_HAD);
            if claim > best {
                best = claim;
                chosen = Some((number, theirs));
            }
        }
        if let Some((number, theirs)) = chosen {
            self.others[number].had += slot.ratio(FAIR) * theirs;
        }
        chosen.is_none()
    }

    /// Notes that the stream had `size` in its slot.
    pub(super) fn had(&mut self, size: Bytes) {
        self.had += Rate::of(size, FAIR).as_bps() as f64;
    }
}
