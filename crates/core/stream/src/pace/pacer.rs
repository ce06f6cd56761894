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
    /// Packets of a spread frame that would follow one another more closely than
    /// this leave in groups of two to four: a real host pays for each wake-up.
    /// Zero spaces every packet.
    pub shortest_gap: TimeDelta,
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
        }
    }
}

/// The most packets that leave together because of [`Bounds::shortest_gap`]: 4.8 kB, which a link
/// of 20 Mbit/s carries in 2 ms.
const LARGEST_GROUP: u32 = 4;

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
    spread: Spread,
    /// When the bucket would be empty: the theoretical arrival time of I.371.
    bucket: Time,
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
            group: self.group(over, count),
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
            if is_spaced && spread.count.is_multiple_of(spread.group) {
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
        if let Some(packet) = self.media.front()
            && packet.size <= room
        {
            let due = self.gate(packet.due);
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
        if let Some(packet) = self.media.front()
            && packet.size <= room
            && self.gate(packet.due) <= now
        {
            let packet = self.media.pop_front()?;
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

    /// How many packets of a frame of `count` packets leave together when the frame is spread over
    /// this time.
    fn group(&self, over: TimeDelta, count: usize) -> usize {
        let packets = u32::try_from(count).unwrap_or(u32::MAX);
        let shortest = self.bounds.shortest_gap * packets;
        (1..LARGEST_GROUP)
            .find(|&group| over * group >= shortest)
            .unwrap_or(LARGEST_GROUP) as usize
    }

    fn release(&mut self, now: Time, kind: PacketKind, packet: Waiting<P>) -> Released<P> {
        self.waiting -= packet.size;
        if let Pacing::Bucket { rate, .. } = self.pacing {
            self.bucket = self.bucket.max(now) + rate.transmit_time(packet.size);
        }
        Released {
            kind,
            frame: packet.frame,
            size: packet.size,
            last: packet.last,
            payload: Some(packet.payload),
        }
    }

    /// When a packet due at `due` may leave: `due`, or later when the bucket has no room then.
    fn gate(&self, due: Time) -> Time {
        match self.pacing {
            Pacing::Burst | Pacing::Spread { .. } => due,
            Pacing::Bucket { rate, burst } => due.max(self.bucket - rate.transmit_time(burst)),
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::ProbeStart;

    use super::*;

    const PACKET: Bytes = Bytes::new(1_000);

    fn frame(pacer: &mut Pacer<u32>, now: Time, id: u64, packets: u32) {
        let size = Bytes::new(u64::from(packets) * PACKET.get());
        pacer.push_frame(now, FrameId(id), size, (0..packets).map(|i| (PACKET, i)));
    }

    /// Runs the pacer until it is empty and returns the times of departure.
    fn departures(pacer: &mut Pacer<u32>) -> Vec<(u64, PacketKind)> {
        let mut times = Vec::new();
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            let packet = pacer.pop(due, Bytes::MAX).expect("due means due");
            times.push((due.as_nanos() / 1_000, packet.kind));
        }
        times
    }

    fn micros(times: &[(u64, PacketKind)]) -> Vec<u64> {
        times.iter().map(|(time, _)| *time).collect()
    }

    #[test]
    fn a_frame_is_spread_evenly_and_a_burst_is_not() {
        let mut pacer = Pacer::new(Bounds::default());
        frame(&mut pacer, Time::ZERO, 0, 3);
        assert_eq!(micros(&departures(&mut pacer)), [0, 0, 0]);
        pacer.set_pacing(Pacing::Spread {
            over: TimeDelta::from_millis(8),
            lead: 1,
        });
        frame(&mut pacer, Time::from_millis(1), 1, 4);
        let times = micros(&departures(&mut pacer));
        assert_eq!(times, [1_000, 3_000, 5_000, 7_000]);
    }

    /// Six packets over 12 ms: the first ones leave together, the others where they would
    /// have without a lead.
    #[test]
    fn a_lead_leaves_at_once_and_the_others_keep_their_places() {
        let over = TimeDelta::from_millis(12);
        for (lead, expected) in [
            (0, [0, 2_000, 4_000, 6_000, 8_000, 10_000]),
            (1, [0, 2_000, 4_000, 6_000, 8_000, 10_000]),
            (4, [0, 0, 0, 0, 8_000, 10_000]),
            (9, [0; 6]),
        ] {
            let mut pacer = Pacer::new(Bounds::default());
            pacer.set_pacing(Pacing::Spread { over, lead });
            frame(&mut pacer, Time::ZERO, 0, 6);
            assert_eq!(micros(&departures(&mut pacer)), expected, "lead {lead}");
        }
    }

    /// Groups of three: a lead of four takes the rest of the second group with it.
    #[test]
    fn a_lead_takes_the_group_in_which_it_ends() {
        let mut pacer = Pacer::new(Bounds {
            shortest_gap: TimeDelta::from_micros(500),
            ..Bounds::default()
        });
        let over = TimeDelta::from_millis(2);
        pacer.set_pacing(Pacing::Spread { over, lead: 4 });
        frame(&mut pacer, Time::ZERO, 0, 10);
        let expected = [0, 0, 0, 0, 0, 0, 1_200, 1_200, 1_200, 1_800];
        assert_eq!(micros(&departures(&mut pacer)), expected);
    }

    #[test]
    fn packets_too_close_leave_in_groups_of_two_to_four() {
        let mut pacer = Pacer::new(Bounds {
            shortest_gap: TimeDelta::from_micros(500),
            ..Bounds::default()
        });
        pacer.set_pacing(Pacing::Spread {
            over: TimeDelta::from_millis(2),
            lead: 1,
        });
        for (packets, expected) in [
            (4, &[0, 500, 1_000, 1_500][..]),
            (5, &[0, 0, 800, 800, 1_600][..]),
            (
                10,
                &[0, 0, 0, 600, 600, 600, 1_200, 1_200, 1_200, 1_800][..],
            ),
        ] {
            frame(&mut pacer, Time::ZERO, 0, packets);
            assert_eq!(micros(&departures(&mut pacer)), expected);
        }
        frame(&mut pacer, Time::ZERO, 0, 200);
        let times = micros(&departures(&mut pacer));
        assert!(times.chunks(4).all(|group| group[0] == group[3]));
        assert_eq!(times[4], 40, "four at most, whatever the gap");
    }

    /// Eight packets over 8 ms in two parts.
    #[test]
    fn parts_leave_as_one_frame_would_and_late_ones_do_not_hurry() {
        let ms = Time::from_millis;
        for (second, expected) in [
            (2, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000]),
            // The second part is 3 ms late.
            (7, [0, 1_000, 2_000, 3_000, 7_000, 8_000, 9_000, 10_000]),
        ] {
            let mut pacer = Pacer::new(Bounds::default());
            pacer.set_pacing(Pacing::Spread {
                over: TimeDelta::from_millis(8),
                lead: 1,
            });
            pacer.begin_frame(Time::ZERO, FrameId(3), Bytes::new(8_000), 8);
            let part = |count: u32| (0..count).map(|index| (PACKET, index));
            pacer.push_part(Time::ZERO, part(4), false);
            pacer.push_part(ms(second), part(4), true);
            let mut times = Vec::new();
            while let Some(due) = pacer.next_due(Bytes::MAX) {
                let packet = pacer.pop(due, Bytes::MAX).expect("due means due");
                assert_eq!(packet.frame, FrameId(3));
                times.push(due.as_nanos() / 1_000);
                assert_eq!(packet.last, times.len() == 8);
            }
            assert_eq!(times, expected);
        }
    }

    #[test]
    fn a_bucket_spaces_packets_and_forgives_a_burst() {
        let rate = Rate::from_kbps(8_000); // a packet takes 1 ms
        let mut pacer = Pacer::new(Bounds::default());
        for (burst, expected) in [(0, [0, 1_000, 2_000, 3_000]), (2_000, [0, 0, 0, 1_000])] {
            let mut fresh = Pacer::new(Bounds::default());
            std::mem::swap(&mut pacer, &mut fresh);
            pacer.set_pacing(Pacing::Bucket {
                rate,
                burst: Bytes::new(burst),
            });
            frame(&mut pacer, Time::ZERO, 0, 4);
            assert_eq!(micros(&departures(&mut pacer)), expected);
        }
    }

    /// A bucket of 4 packets that leaks one in 1 ms; 8 wait when it changes.
    #[test]
    fn a_bucket_that_changes_while_packets_wait_keeps_what_it_holds() {
        let packets = |count: u64| Bytes::new(count * PACKET.get());
        let (fast, slow) = (Rate::from_kbps(8_000), Rate::from_kbps(2_000));
        for (rate, burst, expected) in [
            // Four have left; each further one waits for its predecessor's room.
            (fast, 4, [1_000, 2_000, 3_000, 4_000]),
            // Half of a packet has leaked: the other half takes four times as long.
            (slow, 4, [2_500, 6_500, 10_500, 14_500]),
            // 3.5 packets are in a bucket for one: 2.5 leak first, then the next.
            (fast, 1, [4_000, 5_000, 6_000, 7_000]),
            // Room for 2.5 more: as many whole ones leave at once.
            (fast, 6, [500, 500, 1_000, 2_000]),
        ] {
            let mut pacer = Pacer::new(Bounds::default());
            pacer.set_bucket(Time::ZERO, fast, packets(3));
            frame(&mut pacer, Time::ZERO, 0, 8);
            while pacer.pop(Time::ZERO, Bytes::MAX).is_some() {}
            assert_eq!(pacer.waiting(), packets(4));
            let now = Time::ZERO + TimeDelta::from_micros(500);
            pacer.set_bucket(now, rate, packets(burst - 1));
            let mut times = Vec::new();
            while let Some(due) = pacer.next_due(Bytes::MAX) {
                let due = due.max(now);
                pacer.pop(due, Bytes::MAX).expect("due means due");
                times.push(due.as_nanos() / 1_000);
            }
            assert_eq!(times, expected, "{burst} at {rate}");
        }
    }

    /// A packet takes 8000 s at one bit a second; what is left of it after 9 s does not
    /// take as long at another rate.
    #[test]
    fn a_bucket_that_all_but_stood_still_leaks_again() {
        let mut pacer = Pacer::new(Bounds::default());
        pacer.set_bucket(Time::ZERO, Rate::from_bps(1), Bytes::ZERO);
        frame(&mut pacer, Time::ZERO, 0, 2);
        assert!(pacer.pop(Time::ZERO, Bytes::MAX).is_some());
        let now = Time::from_secs(9);
        assert_eq!(pacer.next_due(Bytes::MAX), Some(Time::from_secs(8_000)));
        pacer.set_bucket(now, Rate::from_kbps(8_000), Bytes::ZERO);
        let due = now + TimeDelta::from_micros(999);
        assert_eq!(pacer.next_due(Bytes::MAX), Some(due));
    }

    #[test]
    fn probes_follow_their_frame_and_end_with_the_next() {
        let mut pacer = Pacer::new(Bounds::default());
        let probe = Probe {
            id: 0,
            packets: 4,
            interval: TimeDelta::from_millis(2),
            size: None,
            start: ProbeStart::AfterFrame(FrameId(0)),
        };
        pacer.schedule(Time::ZERO, &probe);
        frame(&mut pacer, Time::ZERO, 0, 1);
        pacer.schedule(Time::ZERO, &probe);
        let times = departures(&mut pacer);
        assert_eq!(micros(&times), [0, 2_000, 4_000, 6_000, 8_000]);
        assert_eq!(times[4].1, PacketKind::Probe);

        // One of four has left when the next frame comes.
        frame(&mut pacer, Time::from_millis(20), 1, 1);
        let follows = ProbeStart::AfterFrame(FrameId(1));
        pacer.schedule(
            Time::from_millis(20),
            &Probe {
                id: 1,
                start: follows,
                ..probe
            },
        );
        pacer.pop(Time::from_millis(20), Bytes::MAX);
        pacer.pop(Time::from_millis(22), Bytes::MAX);
        frame(&mut pacer, Time::from_millis(23), 2, 1);
        let times = departures(&mut pacer);
        assert_eq!(
            times,
            [(23_000, PacketKind::Media)],
            "three probes are gone"
        );
    }

    #[test]
    fn a_retransmission_goes_first_and_keeps_its_distance() {
        let mut pacer = Pacer::new(Bounds::default());
        pacer.set_pacing(Pacing::Spread {
            over: TimeDelta::from_millis(4),
            lead: 1,
        });
        frame(&mut pacer, Time::ZERO, 1, 2);
        for _ in 0..2 {
            pacer.push_retransmission(Time::ZERO, FrameId(0), PACKET, 9);
        }
        let times = departures(&mut pacer);
        assert_eq!(times[0], (0, PacketKind::Retransmission));
        assert_eq!(
            times[2..],
            [
                (2_000, PacketKind::Retransmission),
                (2_000, PacketKind::Media)
            ]
        );
    }

    #[test]
    fn what_waits_is_bounded_in_time_and_number() {
        let mut pacer = Pacer::new(Bounds {
            most_packets: 10,
            ..Bounds::default()
        });
        pacer.set_pacing(Pacing::Bucket {
            rate: Rate::from_bps(1),
            burst: Bytes::ZERO,
        });
        let mut given_up = Vec::new();
        for id in 0..4 {
            frame(&mut pacer, Time::from_millis(id * 16), id, 4);
            pacer.expire(Time::from_millis(id * 16), &mut given_up);
        }
        assert_eq!(given_up, [FrameId(0), FrameId(1)]);
        assert_eq!(pacer.waiting(), Bytes::new(8_000));
        given_up.clear();
        pacer.expire(Time::from_secs(2), &mut given_up);
        assert_eq!(given_up, [FrameId(2), FrameId(3)]);
        assert_eq!(pacer.waiting(), Bytes::ZERO);
        assert_eq!(pacer.next_due(Bytes::MAX), None);
    }

    #[test]
    fn a_full_window_holds_media_back() {
        let mut pacer = Pacer::new(Bounds::default());
        frame(&mut pacer, Time::ZERO, 0, 1);
        assert_eq!(pacer.next_due(Bytes::new(999)), None);
        assert!(pacer.pop(Time::ZERO, Bytes::new(999)).is_none());
        assert!(pacer.pop(Time::ZERO, PACKET).is_some());
    }
}
