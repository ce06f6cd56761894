//! Dual-queue coupled AQM (DualPI2): flows that keep queues short by themselves (L4S)
//! do not wait for the queue of other flows, and get no more than their share.
//!
//! RFC 9332, appendix A: figures 2, 3, 5 (initialisation, enqueue, native AQM) and 7,
//! 8 (dequeue and update with overload). There are two queues: the L4S queue for
//! packets with ECT(1) or CE, and the classic queue for all others. A
//! proportional-integral controller holds the classic queue's delay at its target with
//! a base probability p'. Classic packets are dropped or marked with p'^2; L4S packets
//! are marked with k p' or with the probability of their own short threshold,
//! whichever is larger.
//!
//! *Deviations.* There is no timer: each call first makes all updates of the base
//! probability that have become due. The probability is held within [0, 1] (the RFC
//! leaves that out "for clarity"). What the RFC leaves to the implementer is a
//! parameter in [`DualPi2Config`]: the scheduler (the RFC's text recommends a weighted
//! one; here it is Linux's credit or the time-shifted FIFO of the RFC's appendix),
//! ramp or step, the backlog below which the controller acts on no packet (Linux: two
//! MTU), deterministic or random classic drops (Linux: two independent draws with p'),
//! and drops or the limit alone on overload. The native AQM uses the wait of the
//! packet that leaves, and counts that packet in the queue's length; the pseudocode
//! can be read otherwise.

mod config;
#[cfg(test)]
mod tests;

use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::{Fifo, Queue, Waiting};
use crate::random::Random;
pub use config::{DualPi2Config, Native, Overload, Scheduler};

/// The most updates that one call makes up for after a rest: the probability has
/// decayed to nothing by then.
const MOST_UPDATES: u32 = 1_000;

/// A running sum of probabilities, which tells when it exceeds one (figure 4, `recur`).
#[derive(Clone, Copy, Debug, Default)]
struct Recurrence(f64);

impl Recurrence {
    fn next(&mut self, likelihood: f64) -> bool {
        self.0 += likelihood;
        let is_due = self.0 > 1.0;
        if is_due {
            self.0 -= 1.0;
        }
        is_due
    }
}

/// The DualPI2 queue: two coupled queues.
#[derive(Debug)]
pub struct DualPi2<P> {
    config: DualPi2Config,
    l4s: Fifo<P>,
    classic: Fifo<P>,
    random: Random,
    /// p', the base probability.
    base: f64,
    previous: TimeDelta,
    next_update: Time,
    l4s_count: Recurrence,
    classic_count: Recurrence,
    /// Weighted bytes that the classic queue is owed (Linux's `c_protection`).
    credit: f64,
}

impl<P> DualPi2<P> {
    /// Empty queues with these parameters. `seed` has an effect only with
    /// [`DualPi2Config::random`].
    #[must_use]
    pub fn new(config: DualPi2Config, seed: u64) -> Self {
        let mut queue = Self {
            config,
            l4s: Fifo::new(),
            classic: Fifo::new(),
            random: Random::new(seed, "dualpi2"),
            base: 0.0,
            previous: TimeDelta::ZERO,
            next_update: Time::ZERO + config.update,
            l4s_count: Recurrence::default(),
            classic_count: Recurrence::default(),
            credit: 0.0,
        };
        queue.reset_credit();
        queue
    }

    /// The base probability p', from which all others are computed.
    #[must_use]
    pub const fn base_probability(&self) -> f64 {
        self.base
    }

    /// The bytes in the L4S queue, and those in the classic one.
    #[must_use]
    pub const fn backlogs(&self) -> (Bytes, Bytes) {
        (self.l4s.backlog(), self.classic.backlog())
    }

    /// Makes all updates of the base probability that are due by `now` (figure 8).
    fn advance(&mut self, now: Time) {
        for _ in 0..MOST_UPDATES {
            if self.next_update > now {
                return;
            }
            let at = self.next_update;
            let delay = self.l4s.delay(at).max(self.classic.delay(at));
            self.update(delay.max(TimeDelta::ZERO));
            self.next_update += self.config.update;
        }
        self.next_update = now + self.config.update;
    }

    fn update(&mut self, delay: TimeDelta) {
        let config = &self.config;
        let step = config.alpha * (delay - config.target).as_secs()
            + config.beta * (delay - self.previous).as_secs();
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.previous = delay;
    }

    /// `p_CL`, the probability that couples L4S packets to the classic queue; it may exceed one.
    fn coupled(&self) -> f64 {
        self.config.coupling * self.base
    }

    /// Whether `p_C` has reached `p_Cmax`, and with it `p_CL` has reached one (figure 2, line 11).
    fn is_overloaded(&self) -> bool {
        self.coupled() >= 1.0
    }

    /// Whether the L4S queue is served next.
    fn serves_l4s(&self, now: Time) -> bool {
        if self.l4s.is_empty() || self.classic.is_empty() {
            return !self.l4s.is_empty();
        }
        match self.config.scheduler {
            Scheduler::Weighted { .. } => self.credit <= 0.0,
            Scheduler::TimeShifted { shift } => {
                self.l4s.delay(now) + shift >= self.classic.delay(now)
            }
        }
    }

    /// Sets the credit with which the queues begin when both have packets: one MTU
    /// times the difference of the classic queue's weight and the L4S queue's.
    fn reset_credit(&mut self) {
        if let Scheduler::Weighted { classic } = self.config.scheduler {
            self.credit = self.config.mtu.get() as f64 * (2.0 * classic - 1.0);
        }
    }

    /// Charges a served packet to the credit. A packet is free if it is served while
    /// the other queue is empty; the credit is reset when both are empty.
    fn charge(&mut self, size: Bytes, was_l4s: bool) {
        let Scheduler::Weighted { classic } = self.config.scheduler else {
            return;
        };
        let size = size.get() as f64;
        if was_l4s && !self.classic.is_empty() {
            self.credit += classic * size;
        } else if !was_l4s && !self.l4s.is_empty() {
            self.credit -= (1.0 - classic) * size;
        } else if self.l4s.is_empty() && self.classic.is_empty() {
            self.reset_credit();
        }
    }

    /// Whether the next classic packet is to be dropped or marked.
    fn hits_classic(&mut self) -> bool {
        if self.config.random {
            self.random.chance(self.base) && self.random.chance(self.base)
        } else {
            self.classic_count.next(self.base * self.base)
        }
    }

    /// The probability with which the native AQM marks an L4S packet that waited
    /// `delay` (figure 5). `packets` is the length of the L4S queue, this packet
    /// included.
    fn native(&self, delay: TimeDelta, packets: usize) -> f64 {
        if packets <= self.config.native_packets {
            return 0.0;
        }
        match self.config.native {
            Native::Step { above } => f64::from(u8::from(delay > above)),
            Native::Ramp { from, width } => {
                let above = (delay - from).as_secs();
                if above <= 0.0 {
                    0.0
                } else if width <= TimeDelta::ZERO {
                    1.0
                } else {
                    (above / width.as_secs()).min(1.0)
                }
            }
        }
    }
}

impl<P: Packet> DualPi2<P> {
    /// Takes the next L4S packet; `None` when it is dropped. `acts` tells whether the
    /// controller acts on it.
    fn take_l4s(&mut self, now: Time, acts: bool, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        let packets = self.l4s.len();
        let mut next = self.l4s.pop()?;
        let native = self.native(now.since(next.since), packets);
        let coupled = if acts { self.coupled() } else { 0.0 };
        if acts && self.is_overloaded() && self.config.overload == Overload::Drop {
            let probability = self.base * self.base;
            let is_hit = if self.config.random {
                self.hits_classic()
            } else {
                self.l4s_count.next(probability)
            };
            if is_hit {
                dropped.push(next.packet);
                return None;
            }
            if self.l4s_count.next(coupled.min(1.0)) {
                next.packet.mark();
            }
        } else if self.l4s_count.next(native.max(coupled).min(1.0)) {
            next.packet.mark();
        }
        Some(next)
    }

    /// Takes the next classic packet; `None` when it is dropped. `acts` tells whether
    /// the controller acts on it.
    fn take_classic(&mut self, acts: bool, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        let mut next = self.classic.pop()?;
        if acts && self.hits_classic() {
            let saturates = self.is_overloaded() && self.config.overload == Overload::Drop;
            if saturates || !next.packet.ecn().is_capable() {
                dropped.push(next.packet);
                return None;
            }
            next.packet.mark();
        }
        Some(next)
    }
}

/// Whether a packet belongs in the L4S queue (RFC 9331, section 5.1).
fn is_l4s(packet: &impl Packet) -> bool {
    matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce)
}

impl<P: Packet + std::fmt::Debug + Send> Queue<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.advance(now);
        if self.backlog() + self.config.mtu > self.config.limit {
            dropped.push(packet);
        } else if is_l4s(&packet) {
            self.l4s.push(now, packet);
        } else {
            self.classic.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.advance(now);
        while !self.is_empty() {
            let acts = self.backlog() >= self.config.idle_below;
            let is_l4s = self.serves_l4s(now);
            let taken = if is_l4s {
                self.take_l4s(now, acts, dropped)
            } else {
                self.take_classic(acts, dropped)
            };
            if let Some(taken) = taken {
                self.charge(taken.packet.size(), is_l4s);
                return Some(taken);
            }
        }
        None
    }

    fn backlog(&self) -> Bytes {
        self.l4s.backlog() + self.classic.backlog()
    }

    fn len(&self) -> usize {
        self.l4s.len() + self.classic.len()
    }

    /// The lane of a packet: 0 is the L4S queue, 1 the classic one.
    fn lane(&self, packet: &P) -> usize {
        usize::from(!is_l4s(packet))
    }
}
