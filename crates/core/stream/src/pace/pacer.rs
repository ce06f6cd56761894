//! The queue of packets and the times at which they leave.
//!
//! Order: retransmissions first, since their frame is late already, then
//! media in order, then probes. A frame's packets get their times when it is
//! handed over ([`Pacing::Spread`]) or when the bucket has room
//! ([`Pacing::Bucket`], the generic cell rate algorithm, ITU-T I.371).

use std::collections::VecDeque;

use mimosa_facts::{FrameId, Pacing, PacketKind, Probe};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::pace::probes::Probes;

/// Limits on the packets that wait in a pacer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// A frame that waited longer than this is given up whole.
    pub longest_wait: TimeDelta,
    /// The most packets held; beyond that the oldest frames are given up.
    pub most_packets: usize,
    /// Size of a probe whose size the controller does not name.
    pub smallest_packet: Bytes,
    /// Packets of a spread frame or of a bucket that would follow one another more closely than
    /// this leave in groups of two to twelve: a real host pays for each wake-up.
    /// Zero spaces every packet.
    pub shortest_gap: TimeDelta,
    /// Packets that are late leave at this multiple of their pace. Without a multiple all late packets of a spread frame
    /// leave at once, so that a host which wakes up late sends a burst, and a bucket never makes up for the time by which a
    /// packet was late, so that such a host sends at less than the bucket's rate.
    pub catch_up: Option<f64>,
}

impl Bounds {
    /// The value of [`Self::catch_up`] for a sender with a real clock. Our choice: a delay of the sender is made good
    /// in as long as it lasted.
    pub const CATCH_UP: f64 = 2.0;
}

impl Default for Bounds {
    /// 500 ms, the cap that pion's maintainers were asked for
    /// (pion/interceptor PR 227), and 8192 packets, over a second at 50 Mbit/s.
    fn default() -> Self {
        Self {
            longest_wait: TimeDelta::from_millis(500),
            most_packets: 8192,
            smallest_packet: Bytes::new(64),
            shortest_gap: TimeDelta::ZERO,
            catch_up: None,
        }
    }
}

/// The most packets that leave together because of [`Bounds::shortest_gap`]. Our choice: 14.4 kB, where the smallest buffers of
/// ports at switches have 16 kB. With gaps of 500 us, groups are as large from a pace of 211 Mbit/s on.
const LARGEST_GROUP: u32 = 12;

/// A packet that may leave now.
#[derive(Debug, PartialEq)]
pub struct Released<P> {
    /// Whether the packet carries media, a retransmission or a probe.
    pub kind: PacketKind,
    /// The frame that the packet belongs to or follows.
    pub frame: FrameId,
    /// Size of the packet on the wire.
    pub size: Bytes,
    /// Whether the packet is the last of its frame or of its group of probes.
    pub last: bool,
    /// The caller's payload; `None` for a probe.
    pub payload: Option<P>,
}

#[derive(Debug)]
struct Waiting<P> {
    frame: FrameId,
    size: Bytes,
    last: bool,
    handed_over: Time,
    due: Time,
    payload: P,
}

/// How the packets of the newest frame are spread.
#[derive(Debug)]
struct Spread {
    /// When the frame would have begun to leave, had all of its parts been there in time.
    begun: Time,
    /// When the newest packet may leave.
    due: Time,
    over: TimeDelta,
    /// Number of packets at the frame's beginning that leave as soon as they are there.
    lead: usize,
    /// Number of packets that leave together.
    group: usize,
    /// Number and size of the packets handed over so far.
    count: usize,
    before: Bytes,
}

/// The media packet that left last.
#[derive(Debug)]
struct Left {
    frame: FrameId,
    due: Time,
    at: Time,
}

/// Holds packets until they may leave. `P` is the caller's handle of a packet: bytes in a server,
/// an index in a simulation.
#[derive(Debug)]
pub struct Pacer<P> {
    bounds: Bounds,
    pacing: Pacing,
    media: VecDeque<Waiting<P>>,
    retransmissions: VecDeque<Waiting<P>>,
    probes: Probes,
    waiting: Bytes,
    newest: FrameId,
    left: Option<Left>,
    spread: Spread,
    /// When the bucket would be empty: the theoretical arrival time of I.371.
    bucket: Time,
    /// Number of packets that leave at once, as the rest of a group, whatever the bucket holds.
    grouped: u32,
    /// When the next group may leave that makes up for lost time.
    hurried: Time,
    /// Whether the next media packet has waited for more room in flight, which is no lost time.
    is_blocked: bool,
    /// Rate at which the newest spread frame leaves; retransmissions sent meanwhile are spaced at
    /// the same rate among themselves.
    spread_rate: Rate,
    retransmission_free: Time,
}

impl<P> Pacer<P> {
    /// An empty pacer that sends in bursts until told otherwise.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            pacing: Pacing::Burst,
            media: VecDeque::new(),
            retransmissions: VecDeque::new(),
            probes: Probes::default(),
            waiting: Bytes::ZERO,
            newest: FrameId(0),
            left: None,
            spread: Spread {
                begun: Time::ZERO,
                due: Time::ZERO,
                over: TimeDelta::ZERO,
                lead: 0,
                group: 1,
                count: 0,
                before: Bytes::ZERO,
            },
            bucket: Time::ZERO,
            grouped: 0,
            hurried: Time::ZERO,
            is_blocked: false,
            spread_rate: Rate::MAX,
            retransmission_free: Time::ZERO,
        }
    }

    /// Total size of the media packets and retransmissions that wait.
    #[must_use]
    pub const fn waiting(&self) -> Bytes {
        self.waiting
    }

    /// Total size of the retransmissions that wait.
    #[must_use]
    pub fn waiting_again(&self) -> Bytes {
        let sizes = self.retransmissions.iter().map(|packet| packet.size);
        sizes.sum()
    }

    /// The pacing of the frames handed over from now on.
    #[must_use]
    pub const fn pacing(&self) -> Pacing {
        self.pacing
    }

    /// Sets the pacing of the frames handed over from now on, and the rate of the bucket for all
    /// packets.
    pub fn set_pacing(&mut self, pacing: Pacing) {
        self.pacing = pacing;
    }

    /// Sets a bucket whose depth is an amount of data: the data that has left and not leaked yet
    /// stays the same amount when the rate changes. With [`Self::set_pacing`] it stays the same
    /// time.
    pub fn set_bucket(&mut self, now: Time, rate: Rate, burst: Bytes) {
        if let Pacing::Bucket { rate: before, .. } = self.pacing
            && before != rate
        {
            let held = before.amount_in(self.bucket.since(now));
            self.bucket = now + rate.transmit_time(held);
        }
        self.pacing = Pacing::Bucket { rate, burst };
    }

    /// Hands over a frame of `size` in all; `packets` gives each packet's size
    /// and payload in order.
    pub fn push_frame(
        &mut self,
        now: Time,
        frame: FrameId,
        size: Bytes,
        packets: impl ExactSizeIterator<Item = (Bytes, P)>,
    ) {
        self.begin_frame(now, frame, size, packets.len());
        self.push_part(now, packets, true);
    }

    /// Begins a frame that is handed over in parts, by [`Self::push_part`]. It will be of about `size`
    /// and have about `count` packets, by which its packets are spread.
    pub fn begin_frame(&mut self, now: Time, frame: FrameId, size: Bytes, count: usize) {
        self.probes.frame_came(frame);
        self.newest = frame;
        let (over, lead) = match self.pacing {
            Pacing::Spread { over, lead } => (over.max(TimeDelta::ZERO), usize::from(lead)),
            Pacing::Burst | Pacing::Bucket { .. } => (TimeDelta::ZERO, 0),
        };
        self.spread_rate = if over == TimeDelta::ZERO {
            Rate::MAX
        } else {
            Rate::of(size, over)
        };
        self.spread = Spread {
            begun: now,
            due: now,
            over,
            lead,
            group: group(self.bounds.shortest_gap, over, count) as usize,
            count: 0,
            before: Bytes::ZERO,
        };
    }

    /// Hands over the next packets of the frame that was begun last; `is_last` if there are no more.
    /// Packets that come after the time at which they would have left do not hurry: they and all after
    /// them leave as much later.
    pub fn push_part(
        &mut self,
        now: Time,
        packets: impl ExactSizeIterator<Item = (Bytes, P)>,
        is_last: bool,
    ) {
        let count = packets.len();
        let spread = &mut self.spread;
        spread.due = spread.due.max(now);
        for (place, (size, payload)) in packets.enumerate() {
            let is_spaced = spread.over > TimeDelta::ZERO && spread.count >= spread.lead;
            // A lead is a group of its own, so that no burst is larger than the lead.
            let lead = if spread.lead > 1 { spread.lead } else { 0 };
            let grouped = spread.count.saturating_sub(lead);
            if is_spaced && grouped.is_multiple_of(spread.group) {
                let wait = self.spread_rate.transmit_time(spread.before);
                let due = spread.begun + wait;
                spread.begun += now.since(due).max(TimeDelta::ZERO);
                spread.due = due.max(now);
            }
            spread.before += size;
            spread.count += 1;
            self.waiting += size;
            self.media.push_back(Waiting {
                frame: self.newest,
                size,
                last: is_last && place + 1 == count,
                handed_over: now,
                due: spread.due,
                payload,
            });
        }
    }

    /// Hands over a packet of `frame` that was lost on its way.
    pub fn push_retransmission(&mut self, now: Time, frame: FrameId, size: Bytes, payload: P) {
        self.waiting += size;
        self.retransmissions.push_back(Waiting {
            frame,
            size,
            last: false,
            handed_over: now,
            due: now,
            payload,
        });
    }

    /// Schedules the probes that a controller asks for, and returns whether the request is new: two
    /// requests with the same `id` are one.
    pub fn schedule(&mut self, now: Time, probe: &Probe) -> bool {
        self.probes
            .schedule(now, probe, self.newest, self.bounds.smallest_packet)
    }

    /// Takes probes for sent that were asked for before.
    pub(crate) fn pass_over(&mut self, probe: &Probe) {
        self.probes.pass_over(probe);
    }

    /// Gives up frames that waited too long or are too many, oldest first, and
    /// puts their numbers into `given_up`.
    pub fn expire(&mut self, now: Time, given_up: &mut Vec<FrameId>) {
        loop {
            let too_many = self.media.len() + self.retransmissions.len() > self.bounds.most_packets;
            let Some(front) = self.media.front() else {
                break;
            };
            if !too_many && now.since(front.handed_over) <= self.bounds.longest_wait {
                break;
            }
            let frame = front.frame;
            while let Some(packet) = self.media.pop_front_if(|packet| packet.frame == frame) {
                self.waiting -= packet.size;
            }
            given_up.push(frame);
        }
    }

    /// Gives up retransmissions that waited too long, and puts the numbers of their frames into
    /// `given_up`.
    pub fn expire_again(&mut self, now: Time, given_up: &mut Vec<FrameId>) {
        while let Some(packet) = self
            .retransmissions
            .pop_front_if(|packet| now.since(packet.handed_over) > self.bounds.longest_wait)
        {
            self.waiting -= packet.size;
            given_up.push(packet.frame);
        }
    }

    /// When the next packet may leave, if `room` bytes more may be in flight;
    /// `None` when nothing waits or nothing may leave before `room` grows.
    #[must_use]
    pub fn next_due(&self, room: Bytes) -> Option<Time> {
        let mut next = self.probes.next();
        if let Some(due) = self.next_of_frames(room) {
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        if let Some(packet) = self.retransmissions.front()
            && packet.size <= room
        {
            let due = self.gate(packet.due.max(self.retransmission_free));
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        next
    }

    /// When the first of the frames' packets that wait may leave, and so no packet that is added to them before;
    /// `None` when none waits, or none may leave before `room` grows.
    #[must_use]
    pub fn next_of_frames(&self, room: Bytes) -> Option<Time> {
        let packet = self.media.front()?;
        (packet.size <= room).then(|| self.media_due(packet))
    }

    /// Takes a packet that may leave at `now`, if `room` bytes more may be in flight. Call this
    /// until it returns `None`.
    pub fn pop(&mut self, now: Time, room: Bytes) -> Option<Released<P>> {
        if let Some(packet) = self.retransmissions.front()
            && packet.size <= room
            && self.gate(packet.due.max(self.retransmission_free)) <= now
        {
            let packet = self.retransmissions.pop_front()?;
            self.retransmission_free = now + self.spread_rate.transmit_time(packet.size);
            return Some(self.release(now, PacketKind::Retransmission, packet));
        }
        if let Some(packet) = self.media.front() {
            self.is_blocked |= packet.size > room;
        }
        if let Some(packet) = self.media.front()
            && packet.size <= room
            && self.media_due(packet) <= now
        {
            let packet = self.media.pop_front()?;
            self.left = Some(Left {
                frame: packet.frame,
                due: packet.due,
                at: now,
            });
            if packet.last {
                self.probes.frame_left(now, packet.frame);
            }
            return Some(self.release(now, PacketKind::Media, packet));
        }
        let (frame, size, last) = self.probes.pop(now)?;
        Some(Released {
            kind: PacketKind::Probe,
            frame,
            size,
            last,
            payload: None,
        })
    }

    fn release(&mut self, now: Time, kind: PacketKind, packet: Waiting<P>) -> Released<P> {
        self.waiting -= packet.size;
        if let Pacing::Bucket { rate, .. } = self.pacing {
            self.fill(now, packet.due, rate.transmit_time(packet.size));
        }
        self.is_blocked = false;
        Released {
            kind,
            frame: packet.frame,
            size: packet.size,
            last: packet.last,
            payload: Some(packet.payload),
        }
    }

    /// Puts a packet into the bucket that was due at `due` and leaks in the time `own`.
    fn fill(&mut self, now: Time, due: Time, own: TimeDelta) {
        let is_late = self.bucket.max(due) < now;
        let mut from = now;
        if is_late || self.grouped == 0 {
            let group = group(self.bounds.shortest_gap, own, 1);
            self.grouped = group;
            if let Some(times) = self.bounds.catch_up
                && is_late
                && !self.is_blocked
            {
                from = due;
                self.hurried = now + (own * group).scale(1.0 / times);
            }
        }
        self.grouped -= 1;
        self.bucket = self.bucket.max(from) + own;
    }

    /// When a media packet may leave: not sooner after a late one of its frame than [`Bounds::catch_up`] allows.
    fn media_due(&self, packet: &Waiting<P>) -> Time {
        let mut due = packet.due;
        if let Some((left, times)) = self.left.as_ref().zip(self.bounds.catch_up)
            && left.frame == packet.frame
        {
            due = due.max(left.at + packet.due.since(left.due).scale(1.0 / times));
        }
        self.gate(due)
    }

    /// When a packet due at `due` may leave: `due`, or later when the bucket has no room then.
    fn gate(&self, due: Time) -> Time {
        match self.pacing {
            Pacing::Burst | Pacing::Spread { .. } => due,
            Pacing::Bucket { .. } if self.grouped > 0 => due,
            Pacing::Bucket { rate, burst } => {
                let has_room = self.bucket - rate.transmit_time(burst);
                due.max(has_room).max(self.hurried)
            }
        }
    }
}

/// How many of `count` packets that leave over this time leave together, so that groups are `shortest_gap` apart.
fn group(shortest_gap: TimeDelta, over: TimeDelta, count: usize) -> u32 {
    let packets = u32::try_from(count).unwrap_or(u32::MAX);
    let shortest = shortest_gap * packets;
    (1..LARGEST_GROUP)
        .find(|&group| over * group >= shortest)
        .unwrap_or(LARGEST_GROUP)
}

#[cfg(test)]
mod tests;
