//! Proportional integral controller enhanced (PIE): a queue that drops at its tail,
//! with a probability that follows the distance of the delay from its target and the
//! trend of the delay.
//!
//! RFC 8033: sections 4 and 5, and the pseudocode of appendix A with the
//! enhancements of appendix B (ECN, derandomisation, the bounds on the probability,
//! activation).
//!
//! *Deviations.* The delay is the wait of the packet at the head (section 5.2 allows
//! time stamps, appendix A has them), not the backlog divided by an estimated
//! departure rate. There is no timer: each call first makes all updates of the
//! probability that have become due, each with the wait that the present head packet
//! had at that update's time. Appendix B decays the probability below half the
//! target, appendix A and section 4.2 only at zero; here it decays only at zero,
//! unless [`PieConfig::early_decay`] is set.

use std::fmt::Debug;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::keys::{Keys, Read};
use crate::packet::Packet;
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};
use crate::random::Random;

/// The delay above which an update raises the probability by [`STEP`]. This is not
/// in the RFC; it is from Linux.
const FAST: TimeDelta = TimeDelta::from_millis(250);
/// The most by which one update raises the probability where it is 10 % or more (section 5.5).
const STEP: f64 = 0.02;
/// Factor by which an update decays the probability without a queue (section 4.2,
/// where 1 - 1/64 is a possible value too).
const DECAY: f64 = 0.98;
/// Below this probability, a queue whose delay was below half the target drops
/// nothing (section 4.1).
const SAFE: f64 = 0.2;
/// No packet is dropped before the probabilities since the last drop add up to this (section 5.4).
const NOT_BEFORE: f64 = 0.85;
/// A packet is dropped at the latest when the probabilities since the last drop add
/// up to this (section 5.4).
const AT_LATEST: f64 = 8.5;
/// Divisors of the gains: in each pair, the probability below which the divisor
/// applies, and the divisor (section 4.2). The first pair that applies counts.
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2_048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// The most updates that one call makes up for after a rest: the probability has
/// decayed to nothing by then.
const MOST_UPDATES: u32 = 1_000;

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Target of the delay. Default: 15 ms (appendix A).
    pub target: TimeDelta,
    /// Time between two updates of the probability. Default: 15 ms.
    pub update: TimeDelta,
    /// Bursts that are shorter than this pass without a drop. Default: 150 ms.
    pub burst: TimeDelta,
    /// Gain of the delay's distance from the target, in 1/s. Default: 1/8.
    pub alpha: f64,
    /// Gain of the delay's change since the last update, in 1/s. Default: 5/4.
    pub beta: f64,
    /// Size of a packet: nothing is dropped early while no more than two packets of
    /// this size wait. Default: 1500 bytes.
    pub packet: Bytes,
    /// Most packets held. The RFC leaves it open; the default is Linux's, 1000.
    pub limit: usize,
    /// ECN-capable packets are marked instead of dropped while the probability is
    /// below this; zero for never. Default: 10 % (appendix B).
    pub ecn_threshold: f64,
    /// Whether the controller is inactive until the queue is a third full (appendix
    /// B). Default: false.
    pub sleeps: bool,
    /// Whether the probability decays while the delay is below half the target, not
    /// only at zero (appendix B). Default: false.
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
    /// Sum of the probabilities of the packets since the last drop.
    accumulated: f64,
    old_delay: TimeDelta,
    burst_allowance: TimeDelta,
    next_update: Time,
}

impl<P> Pie<P> {
    /// An empty queue with these parameters. Its random numbers follow from `seed`.
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

    /// The present drop probability.
    #[must_use]
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes all updates of the probability that are due by `now`.
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

    /// Updates the probability (section 4.2, with the bound of section 5.5). `delay`
    /// is the present delay.
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

    /// Whether the packet that comes is to be dropped, or marked (`drop_early`).
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

    /// Activates and deactivates the controller (appendix B), and renews the burst
    /// allowance of a queue with a probability of zero and little delay.
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
