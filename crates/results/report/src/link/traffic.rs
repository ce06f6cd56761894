//! The packets of one direction of a link, on an axis of time.

use mimosa_facts::{Fate, LinkPacket, Passage};
use mimosa_record::Link;
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::axis::Axis;
use crate::link::join::nanos;

/// One direction's packets, in the order in which they came.
pub(crate) struct Traffic<'a> {
    pub(crate) packets: Vec<Placed<'a>>,
    pub(crate) served: Served,
}

/// A packet, and its place on the axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) packet: &'a Passage<LinkPacket>,
    /// When the packet was offered to the queue.
    pub(crate) at: TimeDelta,
    /// Whether the packet is the session's.
    pub(crate) is_own: bool,
}

impl Placed<'_> {
    /// When the link began to serialise the packet.
    pub(crate) fn started(&self) -> Option<TimeDelta> {
        Some(self.at + self.wait()?)
    }

    /// Time of the packet in the queue.
    pub(crate) fn wait(&self) -> Option<TimeDelta> {
        wait(self.packet)
    }

    /// When the packet is due at the other end.
    pub(crate) fn due(&self) -> Option<TimeDelta> {
        match self.packet.fate {
            Fate::Arrived(at) => Some(self.at + (at - self.packet.offered)),
            Fate::Dropped | Fate::Lost => None,
        }
    }
}

/// Time of a packet in the queue.
pub(crate) fn wait(packet: &Passage<LinkPacket>) -> Option<TimeDelta> {
    Some(packet.started? - packet.offered)
}

/// Whether the queue marked the packet.
pub(crate) fn is_marked(packet: &Passage<LinkPacket>) -> bool {
    packet.ecn == Ecn::Ce && packet.sent_ecn != Ecn::Ce
}

impl<'a> Traffic<'a> {
    /// A direction's packets on an axis of length `span`, whose zero is at `zero` nanoseconds of
    /// the link's clock.
    pub(crate) fn new(
        link: &'a Link,
        is_forward: bool,
        zero: i64,
        span: TimeDelta,
        is_own: impl Fn(&Passage<LinkPacket>) -> bool,
    ) -> Self {
        let mut packets: Vec<_> = link
            .packets
            .iter()
            .filter(|packet| packet.packet.is_forward == is_forward)
            .map(|packet| Placed {
                packet,
                at: TimeDelta::from_nanos(nanos(packet.offered).saturating_sub(zero)),
                is_own: is_own(packet),
            })
            .filter(|placed| placed.at >= TimeDelta::ZERO && placed.at < span)
            .collect();
        packets.sort_by_key(|placed| placed.at);
        let served = Served::new(&packets);
        Self { packets, served }
    }

    /// For each interval of `axis`, its middle and the `value` of the packets that came in it.
    pub(crate) fn middles(
        &self,
        axis: &Axis,
        value: impl Fn(&[Placed<'a>]) -> Option<f64>,
    ) -> Vec<(f64, f64)> {
        self.stretches(axis)
            .map(|(from, to, packets)| {
                let middle = axis.at(from + (to - from) / 2);
                (middle, value(packets).unwrap_or(f64::NAN))
            })
            .collect()
    }

    /// Each interval of `axis`, with the packets that came in it.
    fn stretches(
        &self,
        axis: &Axis,
    ) -> impl Iterator<Item = (TimeDelta, TimeDelta, &[Placed<'a>])> {
        (0..axis.stretches()).map(|stretch| {
            let (from, to) = axis.bounds(stretch);
            let place = |at: TimeDelta| self.packets.partition_point(|placed| placed.at < at);
            let packets = self.packets.get(place(from)..place(to));
            (from, to, packets.unwrap_or_default())
        })
    }

    /// For each interval, its beginning and the rate in Mbit/s at which the link carried the
    /// `wanted` packets, which is valid until the next.
    pub(crate) fn carried(
        &self,
        axis: &Axis,
        wanted: impl Fn(&Placed<'a>) -> bool,
    ) -> Vec<(f64, f64)> {
        let mut bytes = vec![0.0; axis.stretches()];
        for placed in self.packets.iter().filter(|placed| wanted(placed)) {
            let stretch = placed.started().and_then(|at| axis.stretch(at));
            if let Some(sum) = stretch.and_then(|stretch| bytes.get_mut(stretch)) {
                *sum += placed.packet.size.get() as f64;
            }
        }
        bytes
            .into_iter()
            .enumerate()
            .map(|(stretch, bytes)| {
                let (from, to) = axis.bounds(stretch);
                (axis.at(from), bytes * 8.0 / (to - from).as_secs() / 1e6)
            })
            .collect()
    }

    /// For each interval, the rate in Mbit/s of the `wanted` packets that came in it.
    pub(crate) fn offered(
        &self,
        axis: &Axis,
        wanted: impl Fn(&Placed<'a>) -> bool,
    ) -> Vec<(f64, f64)> {
        self.stretches(axis)
            .map(|(from, to, packets)| {
                let sizes = packets.iter().filter(|placed| wanted(placed));
                let size: Bytes = sizes.map(|placed| placed.packet.size).sum();
                let middle = axis.at(from + (to - from) / 2);
                (middle, size.bits() as f64 / (to - from).as_secs() / 1e6)
            })
            .collect()
    }
}

/// What the link had carried before each packet, in the order in which it began to serialise them.
#[derive(Debug, Default)]
pub(crate) struct Served {
    started: Vec<TimeDelta>,
    /// Bytes before each packet, and the seconds that they took.
    sums: Vec<(f64, f64)>,
}

impl Served {
    fn new(packets: &[Placed<'_>]) -> Self {
        let mut served: Vec<_> = packets
            .iter()
            .filter_map(|placed| {
                let took = placed.packet.finished?.since(placed.packet.started?);
                Some((placed.started()?, placed.packet.size, took))
            })
            .collect();
        served.sort_by_key(|one| one.0);
        let mut sums = vec![(0.0, 0.0)];
        let (mut bytes, mut seconds) = (0.0, 0.0);
        for (_, size, took) in &served {
            bytes += size.get() as f64;
            seconds += took.as_secs();
            sums.push((bytes, seconds));
        }
        Self {
            started: served.into_iter().map(|one| one.0).collect(),
            sums,
        }
    }

    /// Bytes of the packets that the link began between two times, and the seconds that they took.
    fn between(&self, from: TimeDelta, to: TimeDelta) -> Option<(f64, f64)> {
        let place = |at: TimeDelta| self.started.partition_point(|started| *started < at);
        let before = self.sums.get(place(from))?;
        let after = self.sums.get(place(to).max(place(from)))?;
        Some((after.0 - before.0, after.1 - before.1))
    }

    /// The link's rate between two times, in Mbit/s: sizes over the time that serialisation took.
    /// `None` if nothing passed, or passed in no time.
    pub(crate) fn mbps(&self, from: TimeDelta, to: TimeDelta) -> Option<f64> {
        let (bytes, seconds) = self.between(from, to)?;
        (seconds > 1e-12 && bytes > 0.0).then(|| bytes * 8.0 / seconds / 1e6)
    }

    /// Share of the time between two times in which the link serialised the packets that it began
    /// in between.
    pub(crate) fn busy(&self, from: TimeDelta, to: TimeDelta) -> Option<f64> {
        let (_, seconds) = self.between(from, to)?;
        let span = (to - from).as_secs();
        (span > 0.0).then(|| seconds / span)
    }
}

/// Bytes of some packets in the queue at any time.
pub(crate) struct Backlog {
    at: Vec<TimeDelta>,
    bytes: Vec<i128>,
}

impl Backlog {
    /// The backlog of those own packets of `traffic` that leave the queue for the link.
    pub(crate) fn own(traffic: &Traffic<'_>) -> Self {
        let mut changes = Vec::new();
        for placed in traffic.packets.iter().filter(|placed| placed.is_own) {
            if let Some(started) = placed.started() {
                let size = i128::from(placed.packet.size.get());
                changes.extend([(placed.at, size), (started, -size)]);
            }
        }
        changes.sort_unstable();
        let mut sum = 0;
        let bytes = changes.iter().map(|(_, change)| {
            sum += change;
            sum
        });
        Self {
            bytes: bytes.collect(),
            at: changes.iter().map(|change| change.0).collect(),
        }
    }

    /// The bytes in the queue at a time.
    pub(crate) fn at(&self, time: TimeDelta) -> f64 {
        let place = self.at.partition_point(|at| *at <= time);
        let bytes = place.checked_sub(1).and_then(|last| self.bytes.get(last));
        bytes.map_or(0.0, |bytes| *bytes as f64)
    }
}

/// The time span of a recording: from its first packet to its last bit.
pub(crate) fn extent(link: &Link) -> (Time, TimeDelta) {
    let first = link.packets.iter().map(|packet| packet.offered).min();
    let last = link.packets.iter().map(|packet| match packet.finished {
        Some(finished) => finished.max(packet.offered),
        None => packet.offered,
    });
    let first = first.unwrap_or(Time::ZERO);
    let last = last.max().unwrap_or(first) + TimeDelta::from_nanos(1);
    (first, last - first)
}

/// The rate of `size` over `span`, in Mbit/s.
pub(crate) fn mbps(size: Bytes, span: TimeDelta) -> Option<f64> {
    let rate = Rate::of(size, span);
    (span > TimeDelta::ZERO).then(|| rate.as_mbps())
}
