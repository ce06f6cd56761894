//! One direction of an emulated network: a queue, a link and a path.

mod monitor;
mod service;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use mimosa_facts::{Fate, Header, LinkPacket, Passage};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::channel::Channel;
use crate::ip::IpPacket;
use crate::link::Served;
use crate::medium::{MediumConfig, Port};
use crate::packet::Packet;
use crate::path::{LossModel, Path, PathConfig};
use crate::queue::{Queue, QueueConfig};
use crate::schedule::Schedule;
use service::{Medium, Service};

pub use self::monitor::{DelayCount, Delays, Lane, Monitor};

/// A packet that is due at the other end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Release {
    /// When the packet was due.
    pub due: Time,
    /// The packet, as it leaves the path.
    pub packet: IpPacket,
}

/// A packet in the queue, with what its record ([`Passage`]) needs.
#[derive(Debug)]
pub struct Stamped {
    packet: IpPacket,
    offered: Time,
    ecn_in: Ecn,
    lane: usize,
    backlog: Bytes,
    is_forward: bool,
}

impl Stamped {
    /// The record of the packet if the queue drops it.
    fn passage(&self) -> Passage<LinkPacket> {
        Passage {
            packet: LinkPacket {
                is_forward: self.is_forward,
                header: self.packet.header(),
                rtp: self.packet.rtp(),
                queue: self.lane,
                backlog: self.backlog,
            },
            size: self.packet.size(),
            sent_ecn: self.ecn_in,
            ecn: self.packet.ecn(),
            offered: self.offered,
            started: None,
            finished: None,
            fate: Fate::Dropped,
        }
    }
}

impl Packet for Stamped {
    fn size(&self) -> Bytes {
        self.packet.size()
    }

    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn mark(&mut self) {
        self.packet.mark();
    }

    fn header(&self) -> Header {
        self.packet.header()
    }
}

/// A change of the network from one time on; what is `None` stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// One rate in place of the schedule, whose propagation delay and loss end with it;
    /// zero for an outage.
    pub rate: Option<Rate>,
    /// One propagation delay in place of the path's and the schedule's.
    pub delay: Option<TimeDelta>,
    /// One probability of loss in place of the path's and the schedule's, from 0 to 1.
    pub loss: Option<f64>,
}

/// Counts of the packets of a direction by their fate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Packets offered.
    pub offered: u64,
    /// Packets released at the other end.
    pub released: u64,
    /// Packets dropped by the queue.
    pub dropped: u64,
    /// Packets lost on the path.
    pub lost: u64,
    /// Packets that passed the link and were marked by the queue.
    pub marked: u64,
    /// Bytes that passed the link.
    pub served: Bytes,
}

/// One direction of an emulated network.
#[derive(Debug)]
pub struct Direction {
    link: Service,
    path: Path,
    /// Number of the queues within the queue that are distinguished; see [`Queue::lane`].
    lanes: usize,
    is_forward: bool,
    /// Propagation delay from a [`Change`], in place of the schedule's and the path's.
    delay: Option<TimeDelta>,
    /// Probability of loss from a [`Change`], in place of the schedule's.
    loss: Option<f64>,
    /// Packets on the path, by the time at which they are due, then in the order in
    /// which they left the link.
    flying: BTreeMap<(Time, u64), IpPacket>,
    /// Number of packets that have been put on the path.
    left: u64,
    dropped: Vec<Stamped>,
    passages: VecDeque<Passage<LinkPacket>>,
    counts: Counts,
}

impl Direction {
    /// An idle direction. The random numbers of the path follow from `seed` and `name`.
    #[must_use]
    pub fn new(
        queue: Box<dyn Queue<Stamped>>,
        schedule: Schedule,
        path: PathConfig,
        seed: u64,
        name: &str,
    ) -> Self {
        Self::over_link(Channel::link(queue, schedule, None), path, seed, name)
    }

    /// An idle direction over this link of its own. The random numbers of the path follow from
    /// `seed` and `name`.
    #[must_use]
    pub fn over_link(link: Channel<Stamped>, path: PathConfig, seed: u64, name: &str) -> Self {
        let link = Service::Own(Box::new(link));
        Self::served_by(link, Path::new(path, seed, name), true)
    }

    /// Two idle directions, there and back, that share a medium, each with its queue, its path
    /// and the name from which the path's random numbers follow beside `seed`.
    #[must_use]
    pub fn over_medium(
        medium: &MediumConfig,
        there: (&QueueConfig, PathConfig, &str),
        back: (&QueueConfig, PathConfig, &str),
        seed: u64,
    ) -> (Self, Self) {
        let channel = medium.build(there.0, back.0, seed);
        let shared = Arc::new(Mutex::new(Medium::new(channel)));
        let direction = |(queue, path, name): (&QueueConfig, PathConfig, &str), port| {
            let link = Service::Shared(Arc::clone(&shared), port);
            let path = Path::new(path, seed, name);
            Self::served_by(link, path, port == Port::There).with_lanes(queue.lanes().len())
        };
        (direction(there, Port::There), direction(back, Port::Back))
    }

    fn served_by(link: Service, path: Path, is_forward: bool) -> Self {
        Self {
            link,
            path,
            lanes: 1,
            is_forward,
            delay: None,
            loss: None,
            flying: BTreeMap::new(),
            left: 0,
            dropped: Vec::new(),
            passages: VecDeque::new(),
            counts: Counts::default(),
        }
    }

    /// This direction with `lanes` as the number of queues that its queue
    /// distinguishes; see [`Queue::lane`].
    #[must_use]
    pub fn with_lanes(self, lanes: usize) -> Self {
        Self { lanes, ..self }
    }

    /// This direction as the one from the receiver's side to the sender's, which its
    /// passages state in [`LinkPacket::is_forward`].
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            is_forward: false,
            ..self
        }
    }

    /// Number of queues that the direction's queue distinguishes.
    #[must_use]
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// Offers a packet that came at `now`, which must not be before the time of the last call.
    pub fn offer(&mut self, now: Time, packet: IpPacket) {
        self.advance(now);
        self.counts.offered += 1;
        let ecn_in = packet.ecn();
        let mut stamped = Stamped {
            packet,
            offered: now,
            ecn_in,
            lane: 0,
            backlog: self.link.backlog(),
            is_forward: self.is_forward,
        };
        stamped.lane = self.link.lane(&stamped);
        self.link.offer(now, stamped, &mut self.dropped);
        self.note_drops();
    }

    /// Changes the network at `now`, which must not be before the time of the last
    /// call. Packets that wait go on waiting, the packet being serialised goes on at
    /// the new rate, and packets on the path arrive when they would have arrived
    /// without the change. A medium has no rate, and stays as it is.
    pub fn change(&mut self, now: Time, change: Change) {
        self.advance(now);
        if let Some(rate) = change.rate {
            self.link.set_schedule(now, Schedule::constant(rate));
        }
        self.delay = change.delay.or(self.delay);
        if change.loss.is_some() {
            // The path itself loses nothing from now on: the loss comes from the conditions.
            let config = *self.path.config();
            let loss = LossModel::Random(0.0);
            self.path.set_config(PathConfig { loss, ..config });
            self.loss = change.loss;
        }
    }

    /// Whether the direction has a link of its own, whose rate can be changed; a medium has none.
    #[must_use]
    pub const fn has_rate(&self) -> bool {
        matches!(self.link, Service::Own(_))
    }

    /// The link's rate at the time of the last call; of a medium, what counts as its capacity.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.link.rate()
    }

    /// Runs the link up to `now`.
    fn advance(&mut self, now: Time) {
        while let Some(served) = self.link.poll(now, &mut self.dropped) {
            self.served(served);
        }
        self.note_drops();
    }

    /// Sends a packet that has passed the link along the path, and records its passage.
    fn served(&mut self, served: Served<Stamped>) {
        let Served {
            packet: stamped,
            started,
            finished,
            ..
        } = served;
        let passage = stamped.passage();
        let mut packet = stamped.packet;
        self.counts.served += packet.size();
        self.counts.marked += u64::from(passage.ecn != passage.sent_ecn);
        let remarked = self.path.remark(packet.ecn());
        if remarked != packet.ecn() {
            packet.set_ecn(remarked);
        }
        let (delay, loss) = self.link.conditions();
        let conditions = (self.delay.or(delay), self.loss.or(loss));
        let arrival = self.path.send(finished, conditions);
        self.counts.lost += u64::from(arrival.is_none());
        let fate = arrival.map_or(Fate::Lost, Fate::Arrived);
        self.passages.push_back(Passage {
            started: Some(started),
            finished: Some(finished),
            fate,
            ..passage
        });
        if let Some(at) = arrival {
            self.flying.insert((at, self.left), packet);
            self.left += 1;
        }
    }

    fn note_drops(&mut self) {
        for stamped in self.dropped.drain(..) {
            self.counts.dropped += 1;
            self.passages.push_back(stamped.passage());
        }
    }

    /// When to call [`Direction::release`] next; [`Time::MAX`] when no packet is in the
    /// direction, or when none will ever leave it.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let due = self.flying.first_key_value().map(|((due, _), _)| *due);
        self.link.deadline().min(due.unwrap_or(Time::MAX))
    }

    /// Takes a packet that is due at the other end by `now`; `None` when none is.
    pub fn release(&mut self, now: Time) -> Option<Release> {
        self.advance(now);
        let first = self.flying.first_entry()?;
        let due = first.key().0;
        if due > now {
            return None;
        }
        self.counts.released += 1;
        Some(Release {
            due,
            packet: first.remove(),
        })
    }

    /// Takes the record of a packet that has passed the link or has been dropped by the
    /// queue; `None` when there is none.
    pub fn poll_passage(&mut self) -> Option<Passage<LinkPacket>> {
        self.passages.pop_front()
    }

    /// The counts of packets so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of packets, and of bytes, that wait or are being serialised.
    #[must_use]
    pub fn waiting(&self) -> (usize, Bytes) {
        (self.link.packets(), self.link.backlog())
    }

    /// Number of packets on the path.
    #[must_use]
    pub fn flying(&self) -> usize {
        self.flying.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Codel, CodelConfig, DropTail, DualPi2, DualPi2Config, Limit};
    use crate::{Jitter, Random, Reordering};

    const PATH: PathConfig = PathConfig {
        delay: TimeDelta::from_millis(10),
        jitter: None,
        loss: LossModel::Random(0.0),
        reordering: None,
        remark: None,
    };

    /// An IPv4 packet with this size and ECN field, which carries `number`.
    fn packet(size: u16, ecn: u8, number: u32) -> IpPacket {
        let mut bytes = vec![0; usize::from(size)];
        bytes[0] = 0x45;
        bytes[1] = ecn;
        bytes[20..24].copy_from_slice(&number.to_be_bytes());
        IpPacket::parse(bytes).unwrap()
    }

    fn direction(queue: Box<dyn Queue<Stamped>>, path: PathConfig) -> Direction {
        // At this rate 1250 bytes take a millisecond.
        let schedule = Schedule::constant(Rate::from_kbps(10_000));
        Direction::new(queue, schedule, path, 1, "test")
    }

    #[test]
    fn a_packet_waits_is_serialised_and_flies() {
        let queue = Box::new(DropTail::new(Limit::Packets(2)));
        let mut way = direction(queue, PATH);
        let start = Time::from_millis(5);
        for number in 0..4 {
            way.offer(start, packet(1_250, 0, number));
        }
        assert_eq!(way.waiting(), (3, Bytes::new(3_750)));
        let mut due = Vec::new();
        while way.deadline() < Time::MAX {
            let now = way.deadline();
            while let Some(release) = way.release(now) {
                assert_eq!(release.due, now);
                due.push(now);
            }
        }
        assert_eq!(due, [16, 17, 18].map(Time::from_millis));
        let passages: Vec<_> = std::iter::from_fn(|| way.poll_passage()).collect();
        assert_eq!(passages[0].fate, Fate::Dropped);
        assert_eq!(passages[1].started, Some(start));
        assert_eq!(passages[3].finished, Some(Time::from_millis(8)));
        assert_eq!(passages[3].fate, Fate::Arrived(Time::from_millis(18)));
        let counts = way.counts();
        assert_eq!((counts.offered, counts.released, counts.dropped), (4, 3, 1));
    }

    #[test]
    fn a_change_holds_from_when_it_is_made() {
        let mut way = direction(Box::new(DropTail::new(Limit::Unlimited)), PATH);
        for number in 0..3 {
            way.offer(Time::ZERO, packet(1_250, 0, number));
        }
        // The first packet has passed the link and is on the path; half of the second
        // has passed the link.
        let change = Change {
            rate: Some(Rate::from_kbps(1_000)),
            delay: Some(TimeDelta::from_millis(2)),
            loss: None,
        };
        way.change(Time::from_nanos(1_500_000), change);
        assert_eq!(way.rate(), Rate::from_kbps(1_000));
        let mut due = Vec::new();
        while way.deadline() < Time::MAX {
            let now = way.deadline();
            due.extend(way.release(now).map(|release| release.due));
        }
        assert_eq!(
            due,
            [11_000_000, 11_000_000, 18_500_000].map(Time::from_nanos)
        );
        let lossy = Change {
            loss: Some(1.0),
            ..Change::default()
        };
        way.change(Time::from_millis(20), lossy);
        way.offer(Time::from_millis(20), packet(1_250, 0, 3));
        assert_eq!(way.release(Time::from_millis(90)), None);
        assert_eq!(way.counts().lost, 1);
    }

    /// The packets that leave a direction under random load, each with the time at
    /// which it is due. The driver calls at the deadlines, each time up to `lateness`
    /// late.
    fn run(
        queue: Box<dyn Queue<Stamped>>,
        path: PathConfig,
        lateness: TimeDelta,
    ) -> (Vec<(Time, Vec<u8>)>, Counts) {
        let mut way = direction(queue, path);
        let mut load = Random::new(7, "load");
        let mut late = Random::new(9, "late");
        let mut out = Vec::new();
        let mut take = |way: &mut Direction, now| {
            while let Some(Release { due, packet }) = way.release(now) {
                out.push((due, packet.into_bytes()));
            }
        };
        let mut now = Time::ZERO;
        for number in 0..20_000 {
            let next = now + TimeDelta::from_micros(1_000).scale(1.6 * load.uniform());
            let ecn = u8::from(load.chance(0.5));
            let size = if load.chance(0.2) { 200 } else { 1_400 };
            loop {
                let called = way.deadline() + lateness.scale(late.uniform());
                if called >= next {
                    break;
                }
                take(&mut way, called);
            }
            now = next;
            way.offer(now, packet(size, ecn, number));
        }
        take(&mut way, now + TimeDelta::from_millis(60_000));
        assert_eq!((way.waiting().0, way.flying()), (0, 0));
        (out, way.counts())
    }

    type NewQueue = fn() -> Box<dyn Queue<Stamped>>;

    #[test]
    fn a_path_that_bleaches_does_it_behind_the_queue() {
        for (remark, bits, checksum_bits) in [
            (None, 1, 1),
            (Some(Ecn::NotEct), 1, 0),
            (Some(Ecn::Ce), 1, 3),
            (Some(Ecn::Ce), 0, 0),
        ] {
            let path = PathConfig { remark, ..PATH };
            let mut way = direction(Box::new(DropTail::new(Limit::Unlimited)), path);
            way.offer(Time::ZERO, packet(1_000, bits, 0));
            let release = way.release(Time::from_secs(1)).unwrap();
            let expected = packet(1_000, checksum_bits, 0);
            assert_eq!(release.packet.ecn(), expected.ecn());
            assert_eq!(release.packet.bytes()[1], expected.bytes()[1]);
            let passage = way.poll_passage().unwrap();
            assert_eq!(passage.sent_ecn, passage.ecn, "the queue did nothing");
        }
    }

    #[test]
    fn a_late_driver_changes_nothing_but_when_it_writes() {
        let path = PathConfig {
            jitter: Some(Jitter::Normal {
                deviation: TimeDelta::from_millis(2),
                most: TimeDelta::from_millis(6),
            }),
            loss: LossModel::Random(0.01),
            reordering: Some(Reordering {
                share: 0.02,
                extra: TimeDelta::from_millis(3),
            }),
            ..PATH
        };
        let queues: [NewQueue; 3] = [
            || Box::new(DropTail::new(Limit::Packets(30))),
            || Box::new(Codel::new(CodelConfig::default())),
            || Box::new(DualPi2::new(DualPi2Config::linux(), 3)),
        ];
        for queue in queues {
            let (punctual, counts) = run(queue(), path, TimeDelta::ZERO);
            assert_eq!(
                counts.offered,
                counts.released + counts.dropped + counts.lost
            );
            assert!(counts.dropped > 50 && counts.lost > 100, "{counts:?}");
            let (late, same) = run(queue(), path, TimeDelta::from_millis(20));
            assert_eq!(counts, same);
            let sorted = |mut out: Vec<(Time, Vec<u8>)>| {
                out.sort();
                out
            };
            assert!(sorted(punctual) == sorted(late));
        }
    }
}
