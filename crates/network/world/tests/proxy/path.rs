//! A link with its queue, and the propagation behind it.

use std::collections::VecDeque;

use mimosa_facts::Header;
use mimosa_net::queue::Queue;
use mimosa_net::{Link, Packet, Random, Schedule};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

/// A datagram on its way.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) contents: Vec<u8>,
    pub(crate) ecn: Ecn,
}

impl Packet for Carried {
    fn size(&self) -> Bytes {
        Bytes::new(self.contents.len() as u64 + 28)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn mark(&mut self) {
        self.ecn = Ecn::Ce;
    }

    fn header(&self) -> Header {
        Header::of_flow(0, Header::UDP, 0)
    }
}

/// A datagram that arrives, and how long it was in the queue before the link.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) carried: Carried,
    pub(crate) waited: TimeDelta,
}

#[derive(Debug)]
pub(crate) struct Path {
    link: Link<Carried>,
    delay: TimeDelta,
    random: Random,
    pub(crate) loss: f64,
    flying: VecDeque<(Time, Arrived)>,
    dropped: Vec<Carried>,
    pub(crate) lost: u64,
}

impl Path {
    pub(crate) fn new(queue: Box<dyn Queue<Carried>>, rate: Rate, delay: TimeDelta) -> Self {
        Self {
            link: Link::new(queue, Schedule::constant(rate)),
            delay,
            random: Random::new(1, "loss"),
            loss: 0.0,
            flying: VecDeque::new(),
            dropped: Vec::new(),
            lost: 0,
        }
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.link.set_schedule(now, Schedule::constant(rate));
    }

    pub(crate) fn offer(&mut self, now: Time, contents: Vec<u8>, ecn: Ecn) {
        self.link
            .offer(now, Carried { contents, ecn }, &mut self.dropped);
    }

    pub(crate) fn deadline(&self) -> Time {
        let due = self.flying.front().map_or(Time::MAX, |(due, _)| *due);
        self.link.deadline().min(due)
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<Arrived> {
        while let Some(served) = self.link.poll(now, &mut self.dropped) {
            if self.random.chance(self.loss) {
                self.lost += 1;
                continue;
            }
            let arrived = Arrived {
                waited: served.started.since(served.offered),
                carried: served.packet,
            };
            self.flying
                .push_back((served.finished + self.delay, arrived));
        }
        self.lost += self.dropped.len() as u64;
        self.dropped.clear();
        let (_, arrived) = self.flying.pop_front_if(|(due, _)| *due <= now)?;
        Some(arrived)
    }
}
