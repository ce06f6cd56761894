//! The link back of a cable: a modem that asks for what waits, and what it is granted.

use std::collections::VecDeque;
use std::fmt::Debug;

use mimosa_units::{Bytes, Time};

use super::config::DocsisConfig;
use crate::link::Served;
use crate::medium::periods::Periods;
use crate::packet::Packet;
use crate::queue::{Queue, Waiting};
use crate::random::Random;

/// The contention window doubles this often, to 16 intervals: our choice. In DOCSIS a MAP message
/// states the window's bounds (Data Backoff Start and End).
const MOST_DOUBLINGS: u32 = 4;

/// What the modem does within an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// The modem sends this much, and asks for what is left.
    Send(Bytes),
    /// The modem asks in the contention region.
    Contend,
}

/// A packet of which a part may have been sent.
#[derive(Debug)]
struct Leaving<P> {
    waiting: Waiting<P>,
    started: Time,
    left: Bytes,
}

/// Bytes that the modem asked for, and the number of the interval that may grant them.
#[derive(Clone, Copy, Debug)]
struct Request {
    answered: u64,
    size: Bytes,
}

/// A modem, and what the head end knows of it.
#[derive(Debug)]
pub(super) struct Modem<P> {
    config: DocsisConfig,
    queue: Box<dyn Queue<P>>,
    leaving: Option<Leaving<P>>,
    /// Requests that no MAP message has answered yet, in order.
    requests: VecDeque<Request>,
    /// Bytes that the head end has been asked for, and has not granted.
    owed: Bytes,
    /// The number of the next interval that is looked at.
    next: u64,
    /// What the modem does, and when, in the interval that was looked at last.
    act: Option<(Time, Act)>,
    /// The number of the first interval in which the modem may contend.
    contends: u64,
    /// Collisions of the request that is being made.
    collisions: u32,
    others: Periods,
    /// Periods of the others.
    lengths: Random,
    /// Places within an interval, collisions and back-offs.
    random: Random,
}

impl<P: Packet + Debug> Modem<P> {
    pub(super) fn new(config: DocsisConfig, mut queue: Box<dyn Queue<P>>, seed: u64) -> Self {
        queue.rate_changed(config.rate_back.scale(1.0 - config.others.share));
        let mut lengths = Random::new(seed, "cable others");
        Self {
            queue,
            leaving: None,
            requests: VecDeque::new(),
            owed: Bytes::ZERO,
            next: 0,
            act: None,
            contends: 0,
            collisions: 0,
            others: Periods::new(config.others.periods, &mut lengths),
            lengths,
            random: Random::new(seed, "cable modem"),
            config,
        }
    }

    /// Offers a packet at `now`; [`Modem::advance`] comes before it with the same time.
    pub(super) fn offer(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        let was_idle = !self.has_work();
        self.queue.enqueue(now, packet, dropped);
        if was_idle {
            let interval = self.interval();
            self.next = self.next.max(now.as_nanos().div_ceil(interval));
        }
    }

    /// Length of an interval in nanoseconds.
    fn interval(&self) -> u64 {
        self.config.interval.as_nanos().unsigned_abs().max(1)
    }

    /// When the interval with this number begins.
    fn begin_of(&self, number: u64) -> Time {
        Time::from_nanos(number.saturating_mul(self.interval()))
    }

    /// Whether something waits or is granted.
    fn has_work(&self) -> bool {
        let waits = !self.queue.is_empty() || self.leaving.is_some() || self.act.is_some();
        waits || self.owed > Bytes::ZERO || !self.requests.is_empty()
    }

    /// When to call [`Modem::advance`]; [`Time::MAX`] when nothing is to be done.
    pub(super) fn deadline(&self) -> Time {
        match self.act {
            Some((at, _)) => at,
            None if self.has_work() => self.begin_of(self.next),
            None => Time::MAX,
        }
    }

    /// Does what is due by `now`. What has been sent is appended to `passed`, with the time at
    /// which its last bit left.
    pub(super) fn advance(&mut self, now: Time, passed: &mut Vec<Served<P>>, dropped: &mut Vec<P>) {
        while self.deadline() <= now {
            match self.act.take() {
                None => {
                    let number = self.next;
                    self.next += 1;
                    self.look_at(number);
                }
                Some((at, Act::Send(size))) => {
                    self.send(at, size, passed, dropped);
                    self.ask();
                }
                Some((_, Act::Contend)) => self.contend(),
            }
        }
    }

    /// Reads the MAP message of the interval with this `number`.
    fn look_at(&mut self, number: u64) {
        let begin = self.begin_of(number);
        while let Some(request) = self.requests.pop_front_if(|one| one.answered <= number) {
            self.owed += request.size;
        }
        let length = self.config.interval;
        let mut share = self.config.others.share;
        if !self.others.is_on(begin, &mut self.lengths) {
            share = 0.0;
        }
        // The others' grants lie before the modem's, after it, or both.
        let begin_of_ours = begin + length.scale(share * self.random.uniform());
        let most = self.config.rate_back.amount_in(length.scale(1.0 - share));
        let proactive = self.config.proactive.map_or(Bytes::ZERO, |rate| {
            // What is granted unasked does not depend on the others' load, as long as it fits.
            rate.amount_in(length).min(most)
        });
        let granted = self.owed.min(most).max(proactive);
        self.owed -= granted;
        if granted > Bytes::ZERO {
            self.act = Some((begin_of_ours, Act::Send(granted)));
        } else if self.unrequested() > Bytes::ZERO && self.contends <= number {
            let at = begin + length.scale(self.random.uniform());
            self.act = Some((at, Act::Contend));
        }
    }

    /// Bytes that wait and that the modem has not asked for.
    fn unrequested(&self) -> Bytes {
        let left = self.leaving.as_ref().map(|leaving| leaving.left);
        let waits = self.queue.backlog() + left.unwrap_or(Bytes::ZERO);
        let asked: Bytes = self.requests.iter().map(|request| request.size).sum();
        waits - (asked + self.owed)
    }

    /// Sends up to `size` from `at` on, whatever ends within it.
    fn send(&mut self, at: Time, size: Bytes, passed: &mut Vec<Served<P>>, dropped: &mut Vec<P>) {
        let mut sent = Bytes::ZERO;
        while sent < size {
            let begins = at + self.config.rate_back.transmit_time(sent);
            if self.leaving.is_none() {
                let Some(waiting) = self.queue.dequeue(at, dropped) else {
                    return;
                };
                self.leaving = Some(Leaving {
                    left: waiting.packet.size(),
                    waiting,
                    started: begins,
                });
            }
            let Some(leaving) = &mut self.leaving else {
                return;
            };
            let part = leaving.left.min(size - sent);
            leaving.left -= part;
            sent += part;
            if leaving.left > Bytes::ZERO {
                return;
            }
            if let Some(leaving) = self.leaving.take() {
                passed.push(Served {
                    packet: leaving.waiting.packet,
                    offered: leaving.waiting.since,
                    started: leaving.started,
                    finished: at + self.config.rate_back.transmit_time(sent),
                });
            }
        }
    }

    /// The number of the interval that answers a request in the interval looked at last.
    fn answered(&self) -> u64 {
        self.next.saturating_sub(1) + u64::from(self.config.answer)
    }

    /// Asks for all that waits and that has not been asked for, without contention.
    fn ask(&mut self) {
        let size = self.unrequested();
        if size > Bytes::ZERO {
            let answered = self.answered();
            self.requests.push_back(Request { answered, size });
        }
    }

    /// Asks in the contention region, and notes when the modem may do so again: when the MAP
    /// message has come that would answer, and after a back-off where it does not.
    fn contend(&mut self) {
        self.contends = self.answered();
        if self.random.chance(self.config.collisions) {
            self.collisions = (self.collisions + 1).min(MOST_DOUBLINGS);
            let window = f64::from(1_u32 << self.collisions);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from zero to the window, which is 16 at most"
            )]
            let back_off = (self.random.uniform() * window) as u64;
            self.contends += back_off;
        } else {
            self.collisions = 0;
            self.ask();
        }
    }

    pub(super) fn lane(&self, packet: &P) -> usize {
        self.queue.lane(packet)
    }

    /// Bytes of the packets of which a part waits.
    pub(super) fn backlog(&self) -> Bytes {
        let leaving = self.leaving.as_ref();
        let leaving = leaving.map(|leaving| leaving.waiting.packet.size());
        self.queue.backlog() + leaving.unwrap_or(Bytes::ZERO)
    }

    /// Number of packets of which a part waits.
    pub(super) fn packets(&self) -> usize {
        self.queue.len() + usize::from(self.leaving.is_some())
    }
}
