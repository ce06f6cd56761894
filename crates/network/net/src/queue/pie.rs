//! Proportional integral controller enhanced: drops at the tail with a probability
//! that follows how far the delay is from its target, and where it is going.
//!
//! RFC 8033: sections 4 and 5, the pseudocode of appendix A with the enhancements of
//! appendix B (ECN, derandomisation, the bounds on the probability, activation).
//!
//! *Deviations.* The delay is the head packet's own wait (section 5.2 allows time
//! stamps, appendix A has them), not a queue over an estimated departure rate. The
//! probability is brought up to date before the first packet that comes after its
//! time, as often as its time has passed; with no packets in between, the delay of
//! those updates is that of the moment. Appendix B decays the probability below half
//! the target, appendix A only at zero: as in section 4.2, the
//! latter, unless [`PieConfig::early_decay`] is set.

use std::fmt::Debug;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::keys::{Keys, Read};
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};
use crate::random::Random;

/// Delay above which the probability rises by [`STEP`]: not in the RFC, from Linux.
const FAST: TimeDelta = TimeDelta::from_millis(250);
/// Most by which the probability rises at once where it is 10 % or more (section
/// 5.5).
const STEP: f64 = 0.02;
/// Factor of the decay without a queue (section 4.2): 1 - 1/64 would do as well.
const DECAY: f64 = 0.98;
/// Below this probability a queue with little delay drops nothing (section 4.1).
const SAFE: f64 = 0.2;
/// No drop before probabilities since the last one add up to this, and one at the
/// latest then (section 5.4).
const NOT_BEFORE: f64 = 0.85;
/// See [`NOT_BEFORE`].
const AT_LATEST: f64 = 8.5;
/// The gains are divided where the probability is below (section 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// Updates that are made up for after a rest; by then, the probability is nothing.
const MOST_UPDATES: u32 = 1_000;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Delay that is aimed at: 15 ms (appendix A).
    pub target: TimeDelta,
    /// Time between updates of the probability: 15 ms.
    pub update: TimeDelta,
    /// Bursts shorter than this pass: 150 ms.
    pub burst: TimeDelta,
    /// Weight of the distance from the target, in 1/s: 1/8.
    pub alpha: f64,
    /// Weight of the change, in 1/s: 5/4.
    pub beta: f64,
    /// A queue of two of these is short: 1500 bytes.
    pub packet: Bytes,
    /// Packets held: 1000, Linux's default. The RFC leaves it open.
    pub limit: usize,
    /// Packets that understand ECN are marked in place of dropped while the
    /// probability is below this (appendix B: 10 %); zero for never.
    pub ecn_threshold: f64,
    /// The controller sleeps until the queue is a third full (appendix B).
    pub sleeps: bool,
    /// The probability decays below half the target, not only at zero (appendix B).
    pub early_decay: bool,
}

impl Default for PieConfig {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(15),
            update: TimeDelta::from_millis(15),
            burst: TimeDelta::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            packet: Bytes::new(1_500),
            limit: 1_000,
            ecn_threshold: 0.1,
            sleeps: false,
            early_decay: false,
        }
    }
}

impl Discipline for PieConfig {
    const NAME: &'static str = "pie";

    fn read(keys: &mut Keys<'_>, _around: &Surroundings<'_>) -> Read<Self> {
        let default = Self::default();
        Ok(Self {
            limit: keys.packets(default.limit)?,
            target: keys.time_above_zero("target", default.target)?,
            update: keys.time_above_zero("update", default.update)?,
            burst: keys.or("burst_allowance", default.burst)?,
            alpha: keys.gain("alpha", default.alpha)?,
            beta: keys.gain("beta", default.beta)?,
            ecn_threshold: keys
                .share("ecn_threshold")?
                .unwrap_or(default.ecn_threshold),
            sleeps: keys.or("sleeps", default.sleeps)?,
            ..default
        })
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Pie::new(*self, seed))
    }
}

/// A queue under PIE.
#[derive(Debug)]
pub struct Pie<P> {
    config: PieConfig,
    fifo: Fifo<P>,
    random: Random,
    is_active: bool,
    probability: f64,
    /// Probabilities since the last drop.
    accumulated: f64,
    old_delay: TimeDelta,
    burst_allowance: TimeDelta,
    next_update: Time,
}

impl<P> Pie<P> {
    /// An empty queue, whose chances are those of `seed`.
    #[must_use]
    pub fn new(config: PieConfig, seed: u64) -> Self {
        Self {
            config,
            fifo: Fifo::new(),
            random: Random::new(seed, "pie"),
            is_active: !config.sleeps,
            probability: 0.0,
            accumulated: 0.0,
            old_delay: TimeDelta::ZERO,
            burst_allowance: config.burst,
            next_update: Time::ZERO + config.update,
        }
    }

    /// The probability of dropping.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Brings the probability up to date.
    fn advance(&mut self, now: Time) {
        for _ in 0..MOST_UPDATES {
            if self.next_update > now {
                return;
            }
            let delay = self.fifo.delay(self.next_update).max(TimeDelta::ZERO);
            self.update(delay);
            self.next_update += self.config.update;
        }
        self.next_update = now + self.config.update;
    }

    /// Section 4.2, and the bound of 5.5.
    fn update(&mut self, delay: TimeDelta) {
        if !self.is_active {
            return;
        }
        let config = &self.config;
        let distance = (delay - config.target).as_secs();
        let change = (delay - self.old_delay).as_secs();
        let scale = SCALES
            .iter()
            .find(|(below, _)| self.probability < *below)
            .map_or(1.0, |(_, scale)| *scale);
        let mut step = (config.alpha * distance + config.beta * change) / scale;
        if self.probability >= 0.1 {
            step = step.min(STEP);
        }
        if delay > FAST {
            step = STEP;
        }
        self.probability += step;
        let calm = if config.early_decay {
            config.target / 2
        } else {
            TimeDelta::from_nanos(1)
        };
        if delay < calm && self.old_delay < calm {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.old_delay = delay;
        self.burst_allowance = (self.burst_allowance - config.update).max(TimeDelta::ZERO);
    }

    /// Whether chance wants a packet dropped (`drop_early`).
    fn drops_early(&mut self) -> bool {
        let is_calm = self.old_delay < self.config.target / 2 && self.probability < SAFE;
        if is_calm || self.fifo.backlog() <= self.config.packet + self.config.packet {
            return false;
        }
        if self.probability <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < NOT_BEFORE {
            return false;
        }
        let drops = self.accumulated >= AT_LATEST || self.random.chance(self.probability);
        if drops {
            self.accumulated = 0.0;
        }
        drops
    }

    /// Wakes and sleeps (appendix B), and renews the allowance of a calm queue.
    fn wake(&mut self, now: Time) {
        let half = self.config.target / 2;
        let delay = self.fifo.delay(now);
        let is_calm = self.probability <= 0.0 && delay < half && self.old_delay < half;
        if is_calm {
            self.burst_allowance = self.config.burst;
        }
        if !self.config.sleeps {
            return;
        }
        if !self.is_active && 3 * self.fifo.len() >= self.config.limit {
            self.is_active = true;
            self.old_delay = TimeDelta::ZERO;
            self.probability = 0.0;
            self.accumulated = 0.0;
            self.burst_allowance = self.config.burst;
            self.next_update = now + self.config.update;
        } else if is_calm && delay == TimeDelta::ZERO && self.old_delay == TimeDelta::ZERO {
            self.is_active = false;
        }
    }
}

impl<P: Packet + std::fmt::Debug + Send> Queue<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, mut packet: P, dropped: &mut Vec<P>) {
        self.advance(now);
        self.wake(now);
        if self.fifo.len() >= self.config.limit {
            self.accumulated = 0.0;
            dropped.push(packet);
            return;
        }
        let acts = self.is_active && self.burst_allowance == TimeDelta::ZERO && self.drops_early();
        if !acts {
            self.fifo.push(now, packet);
        } else if self.probability < self.config.ecn_threshold && packet.ecn().is_capable() {
            packet.mark();
            self.fifo.push(now, packet);
        } else {
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.advance(now);
        self.fifo.pop()
    }

    fn backlog(&self) -> Bytes {
        self.fifo.backlog()
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}

#[cfg(test)]
mod tests;
