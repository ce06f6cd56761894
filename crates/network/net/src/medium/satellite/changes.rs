//! When a terminal changes to another satellite, and what it has there.

use mimosa_units::{Rate, Time, TimeDelta};

use super::config::SatelliteConfig;
use crate::random::Random;
use crate::schedule::{Piece, Schedule};

/// Part of a gap that lies before the change: spikes last for 75 ms at the end of a period, and for
/// 140 ms at the beginning of the next (arXiv 2601.08439).
const BEFORE: f64 = 75.0 / 215.0;
/// Longest gap: our choice. A longer one is an outage and not a change.
const LONGEST_GAP: TimeDelta = TimeDelta::from_millis(1_000);

/// What a terminal has of its satellite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Satellite {
    pub(super) latency: TimeDelta,
    pub(super) rate: Rate,
    pub(super) rate_back: Rate,
}

/// A change to another satellite, with the gap around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// When the gap begins: what is sent from now on is lost.
    pub(super) begins: Time,
    /// When the terminal stops to send and to receive.
    pub(super) silent: Time,
    /// When the other satellite takes over.
    pub(super) at: Time,
    /// When the gap ends.
    pub(super) ends: Time,
    /// The satellite to which the terminal changes.
    pub(super) to: Satellite,
}

impl Change {
    /// Whether what is sent at `at` is lost.
    pub(super) fn loses(&self, at: Time) -> bool {
        self.begins <= at && at < self.silent
    }

    /// The rate before, in and after the gap, of a link whose rate changes from `old` to `new`.
    pub(super) fn schedule(&self, old: Rate, new: Rate) -> Schedule {
        let mut pieces: Vec<Piece> = Vec::new();
        let steps = [
            (Time::ZERO, old),
            (self.silent, Rate::ZERO),
            (self.ends, new),
        ];
        for (at, rate) in steps {
            let at = at.since(Time::ZERO);
            // The later of two steps at one time counts.
            pieces.pop_if(|before| before.at == at);
            pieces.push(Piece {
                at,
                rate,
                delay: None,
                loss: None,
            });
        }
        Schedule::new(pieces, None).unwrap_or_else(|| Schedule::constant(new))
    }
}

/// The changes, one after the other.
#[derive(Debug)]
pub(super) struct Changes {
    config: SatelliteConfig,
    /// When the next change comes.
    next: Time,
    random: Random,
}

impl Changes {
    pub(super) fn new(config: SatelliteConfig, seed: u64) -> Self {
        let mut random = Random::new(seed, "satellites");
        let drawn = config.period.scale(random.uniform());
        let offset = config.offset.unwrap_or(drawn);
        // The first satellite is there from the beginning on.
        let first = if offset > TimeDelta::ZERO {
            offset
        } else {
            config.period
        };
        Self {
            next: Time::ZERO + first,
            random,
            config,
        }
    }

    /// Draws a satellite.
    pub(super) fn satellite(&mut self) -> Satellite {
        let [least, most] = self.config.latency;
        Satellite {
            latency: least + (most - least).scale(self.random.uniform()),
            rate: one_of(&self.config.rates, &mut self.random),
            rate_back: one_of(&self.config.rates_back, &mut self.random),
        }
    }

    /// Draws the next change.
    pub(super) fn change(&mut self) -> Change {
        let at = self.next;
        self.next = at + self.config.period;
        let drawn = self.random.exponential(self.config.gap);
        let gap = if self.config.gap > TimeDelta::ZERO {
            // Half a period at most, so that gaps do not meet.
            drawn.min(LONGEST_GAP).min(self.config.period.scale(0.5))
        } else {
            TimeDelta::ZERO
        };
        let begins = at - gap.scale(BEFORE);
        let ends = begins + gap;
        Change {
            begins,
            silent: begins + gap.scale(self.config.lost),
            at,
            ends: ends.max(at),
            to: self.satellite(),
        }
    }
}

/// One of `rates`, each as likely as another.
fn one_of(rates: &[Rate], random: &mut Random) -> Rate {
    let count = rates.len();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from zero to the number of rates"
    )]
    let index = (random.uniform() * count as f64) as usize;
    let rate = rates.get(index.min(count.saturating_sub(1)));
    rate.copied().unwrap_or(Rate::ZERO)
}
