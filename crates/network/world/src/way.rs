//! One direction between a host and a person: queue, link and path, and the faults on them.

use std::collections::VecDeque;

use mimosa_facts::Header;
use mimosa_net::queue::{Codel, CodelConfig, DropTail, DualPi2, DualPi2Config, Limit, Queue};
use mimosa_net::{Link, LossModel, Packet, Path, PathConfig, Random, Reordering, Schedule};
use mimosa_transport::Datagram;
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::plan::{Discipline, PersonPlan, TransportKind};

/// Bytes of the IPv4 and UDP headers.
const HEADERS: u64 = 28;
/// WebRTC datagrams without media count as a multiple of this many bytes, so that random lengths,
/// such as a signature's, do not change a run.
const ROUNDED_TO: u64 = 256;
/// The link charges datagrams of the DTLS handshake as multiples of this: certificates and
/// signatures have random lengths, and any datagram fits into it.
const HANDSHAKE: u64 = 1_500;

/// A datagram on its way.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) datagram: Datagram,
    size: Bytes,
    ecn: Ecn,
    is_copy: bool,
}

impl Packet for Carried {
    fn size(&self) -> Bytes {
        self.size
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

/// A datagram that arrives.
#[derive(Debug)]
pub(crate) struct Arrived {
    pub(crate) datagram: Datagram,
    pub(crate) ecn: Ecn,
}

/// Counts of datagrams by their fate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Counts {
    pub(crate) sent: u64,
    pub(crate) copied: u64,
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
    pub(crate) lost: u64,
    pub(crate) overtaken: u64,
}

impl Counts {
    /// What has been added since there was `before`.
    pub(crate) const fn since(&self, before: &Self) -> Self {
        Self {
            sent: self.sent - before.sent,
            copied: self.copied - before.copied,
            arrived: self.arrived - before.arrived,
            dropped: self.dropped - before.dropped,
            lost: self.lost - before.lost,
            overtaken: self.overtaken - before.overtaken,
        }
    }

    /// Share of the datagrams sent that queues dropped or the path lost.
    pub(crate) fn lost_share(&self) -> f64 {
        (self.dropped + self.lost) as f64 / self.sent.max(1) as f64
    }
}

/// One direction.
#[derive(Debug)]
pub(crate) struct Way {
    transport: TransportKind,
    link: Link<Carried>,
    path: Path,
    /// The path's configuration without faults.
    calm: PathConfig,
    is_out: bool,
    copies: f64,
    random: Random,
    /// Datagrams on the path in the order in which they arrive, each with when it does and its
    /// number.
    flying: VecDeque<(Time, u64, Carried)>,
    left: u64,
    newest: u64,
    dropped: Vec<Carried>,
    counts: Counts,
}

impl Way {
    /// The direction called `name` between the host and a person.
    pub(crate) fn new(plan: &PersonPlan, transport: TransportKind, seed: u64, name: &str) -> Self {
        let rate = if name.ends_with("back") {
            plan.rate.scale(0.5)
        } else {
            plan.rate
        };
        let queue: Box<dyn Queue<Carried>> = match plan.discipline {
            Discipline::DropTail => {
                // The buffer stays as large when the link's rate changes.
                Box::new(DropTail::new(Limit::Bytes(rate.amount_in(plan.queue))))
            }
            Discipline::Codel => Box::new(Codel::new(CodelConfig::default())),
            Discipline::DualPi2 => Box::new(DualPi2::new(DualPi2Config::linux(), seed)),
        };
        let calm = PathConfig {
            delay: plan.delay,
            jitter: None,
            loss: LossModel::Random(plan.loss),
            reordering: None,
            remark: None,
        };
        Self {
            transport,
            link: Link::new(queue, Schedule::constant(rate)),
            path: Path::new(calm, seed, name),
            calm,
            is_out: false,
            copies: 0.0,
            random: Random::new(seed, &format!("{name} copies")),
            flying: VecDeque::new(),
            left: 0,
            newest: 0,
            dropped: Vec::new(),
            counts: Counts::default(),
        }
    }

    pub(crate) const fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of datagrams in the queue, on the link and on the path.
    pub(crate) fn inside(&self) -> u64 {
        (self.link.packets() + self.flying.len()) as u64
    }

    /// How long a datagram would wait in the queue.
    pub(crate) fn wait(&self) -> TimeDelta {
        self.link.rate().transmit_time(self.link.backlog())
    }

    /// Sends a datagram.
    pub(crate) fn offer(&mut self, now: Time, datagram: Datagram) {
        self.counts.sent += 1;
        if self.is_out {
            self.counts.lost += 1;
            return;
        }
        let copy = self.random.chance(self.copies).then(|| datagram.clone());
        self.enter(now, datagram, false);
        if let Some(copy) = copy {
            self.counts.copied += 1;
            self.enter(now, copy, true);
        }
    }

    fn enter(&mut self, now: Time, datagram: Datagram, is_copy: bool) {
        let carried = Carried {
            size: self.size(&datagram),
            ecn: datagram.ecn,
            datagram,
            is_copy,
        };
        self.link.offer(now, carried, &mut self.dropped);
        self.count_drops();
    }

    fn size(&self, datagram: &Datagram) -> Bytes {
        let length = datagram.contents.len() as u64 + HEADERS;
        let multiple = match (self.transport, datagram.contents.first()) {
            (TransportKind::WebRtc, Some(20..=22)) => HANDSHAKE,
            (TransportKind::WebRtc, Some(first)) if first >> 6 != 2 => ROUNDED_TO,
            _ => 1,
        };
        Bytes::new(length.next_multiple_of(multiple))
    }

    fn count_drops(&mut self) {
        self.counts.dropped += self.dropped.len() as u64;
        self.dropped.clear();
    }

    /// When something happens next; [`Time::MAX`] for never.
    pub(crate) fn deadline(&self) -> Time {
        let due = self.flying.front().map_or(Time::MAX, |(due, ..)| *due);
        self.link.deadline().min(due)
    }

    /// Takes the next datagram that arrives by `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Arrived> {
        while let Some(served) = self.link.poll(now, &mut self.dropped) {
            match self.path.send(served.finished, (None, None)) {
                Some(at) => self.fly(at, served.packet),
                None => self.counts.lost += 1,
            }
        }
        self.count_drops();
        let (_, number, carried) = self.flying.pop_front_if(|(due, ..)| *due <= now)?;
        self.counts.arrived += 1;
        if number < self.newest && !carried.is_copy {
            self.counts.overtaken += 1;
        }
        self.newest = self.newest.max(number);
        Some(Arrived {
            ecn: carried.ecn,
            datagram: carried.datagram,
        })
    }

    /// Notes that a datagram arrives at `at`.
    fn fly(&mut self, at: Time, carried: Carried) {
        // Few datagrams overtake others, and not many.
        let sooner = self.flying.iter().rev().position(|(due, ..)| *due <= at);
        let place = self.flying.len() - sooner.unwrap_or(self.flying.len());
        self.flying.insert(place, (at, self.left, carried));
        self.left += 1;
    }

    /// Begins or ends an outage, in which nothing passes.
    pub(crate) fn set_out(&mut self, is_out: bool) {
        self.is_out = is_out;
    }

    /// Makes this share of packets get lost.
    pub(crate) fn set_loss(&mut self, share: f64) {
        let loss = LossModel::Random(share);
        let config = *self.path.config();
        self.path.set_config(PathConfig { loss, ..config });
    }

    /// Restores the loss of the path without faults.
    pub(crate) fn end_loss(&mut self) {
        let config = *self.path.config();
        let loss = self.calm.loss;
        self.path.set_config(PathConfig { loss, ..config });
    }

    /// Delays this share of packets by more than the others; zero ends the reordering.
    pub(crate) fn set_reordering(&mut self, share: f64) {
        let config = *self.path.config();
        // The extra delay is longer than a frame's packets are apart. Our choice.
        let extra = TimeDelta::from_millis(15);
        let reordering = (share > 0.0).then_some(Reordering { share, extra });
        self.path.set_config(PathConfig {
            reordering,
            ..config
        });
    }

    /// Duplicates this share of packets.
    pub(crate) fn set_copies(&mut self, share: f64) {
        self.copies = share;
    }

    /// The link's rate.
    pub(crate) fn rate(&self) -> Rate {
        self.link.rate()
    }

    /// Changes the link's rate from now on.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.link.set_schedule(now, Schedule::constant(rate));
    }
}
