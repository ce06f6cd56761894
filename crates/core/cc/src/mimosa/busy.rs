//! The load of a link, from how long each packet of a frame waited.

use mimosa_facts::{FrameId, Sequence};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::train::Train;
use super::turns::{self, FrameArrival};
use crate::frame_ring::Remembered;

/// Most packets recorded of one frame and its probes; further packets are ignored.
const MOST_SAMPLES: usize = 4_096;

/// Longest time from the departure of a train's first packet to that of its last: the resolution of the
/// times that stock browsers report.
const TOGETHER: TimeDelta = TimeDelta::from_micros(250);

/// A packet of a frame, or a probe after the frame.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sequence: Sequence,
    sent: Time,
    size: Bytes,
    /// One-way delay, the clocks' offset included; `None` until the packet's arrival is
    /// reported.
    delay: Option<TimeDelta>,
}

/// The values with which the delays of packets are compared.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// The smallest one-way delay, of a packet of no size, plus the standing queue that is
    /// not answered.
    pub(super) shortest: TimeDelta,
    /// The noise: mean time by which delays without a queue exceed the smallest one.
    pub(super) noise: TimeDelta,
    /// The link's rate; `None` before it is known.
    pub(super) link: Option<Rate>,
    /// Whether the link serves in turns.
    pub(super) in_turns: bool,
    /// Share of a standing queue that is added to the load.
    pub(super) standing_gain: f64,
}

impl Reference {
    /// Time from a packet's arrival at the link until the packet has left it, if nothing
    /// else made the packet wait.
    fn apparent(&self, delay: TimeDelta) -> TimeDelta {
        (delay - self.shortest).max(TimeDelta::ZERO)
    }

    /// Time from a packet's arrival at the link until the packet has left it, less the
    /// noise: right in the mean of many packets. For a single packet it may be negative.
    pub(super) fn busy(&self, delay: TimeDelta) -> TimeDelta {
        self.apparent(delay) - self.noise
    }

    /// Queueing delay that a packet of `size` met; never negative.
    fn queue(&self, delay: TimeDelta, size: Bytes) -> TimeDelta {
        (self.busy(delay) - self.transmission(size)).max(TimeDelta::ZERO)
    }

    /// Time that the link needs to send `size`; zero before the link's rate is known.
    pub(super) fn transmission(&self, size: Bytes) -> TimeDelta {
        self.link
            .map_or(TimeDelta::ZERO, |link| link.transmit_time(size))
    }
}

/// The end of an interval: its time, and the queueing delay at that moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    at: Time,
    queue: TimeDelta,
}

/// One frame and its probes: everything that is sent until the next frame begins.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) id: FrameId,
    pub(super) length: TimeDelta,
    pub(super) size: Bytes,
    pub(super) packets: u32,
    /// Number of packets that arrived or were lost, first transmissions only.
    pub(super) resolved: u32,
    /// Whether the receiver has the whole frame, whatever is known about its packets.
    pub(super) is_decoded: bool,
    /// When the frame's last packet was accounted for, probes aside; `None` before.
    pub(super) known: Option<Time>,
    /// Load used in place of a measured one above 1, because the frame was held up and then
    /// released; `None` for other frames.
    pub(super) usual: Option<f64>,
    samples: Vec<Sample>,
    load: Option<f64>,
    /// Whether `load` was computed with a known end of the interval.
    has_end: bool,
}

impl Remembered for Interval {
    fn id(&self) -> FrameId {
        self.id
    }

    fn is_open(&self) -> bool {
        self.resolved < self.packets && !self.is_decoded
    }
}

impl Interval {
    pub(super) fn new(id: FrameId, length: TimeDelta, size: Bytes, packets: u32) -> Self {
        Self {
            id,
            length,
            size,
            packets: packets.max(1),
            resolved: 0,
            is_decoded: false,
            known: None,
            usual: None,
            samples: Vec::new(),
            load: None,
            has_end: false,
        }
    }

    /// Records size and number of packets of a frame of which they had been expected.
    pub(super) fn whole(&mut self, size: Bytes, packets: u32) {
        (self.size, self.packets) = (size, packets.max(1));
        self.load = None;
    }

    /// The bitrate at which the frame was encoded.
    pub(super) fn bitrate(&self) -> Rate {
        Rate::of(self.size, self.length)
    }

    /// When the frame's first packet left; `None` before.
    pub(super) fn first_sent(&self) -> Option<Time> {
        self.samples.first().map(|sample| sample.sent)
    }

    /// Records that a packet of the frame, or a probe after it, left at `sent`. A packet
    /// that is not in order is ignored.
    pub(super) fn sent(&mut self, sequence: Sequence, sent: Time, size: Bytes) {
        let is_new = self
            .samples
            .last()
            .is_none_or(|last| last.sequence < sequence && last.sent <= sent);
        if is_new && self.samples.len() < MOST_SAMPLES {
            self.samples.push(Sample {
                sequence,
                sent,
                size,
                delay: None,
            });
        }
    }

    /// Records a packet's first reported one-way delay.
    pub(super) fn arrived(&mut self, sequence: Sequence, delay: TimeDelta) {
        let place = self
            .samples
            .binary_search_by_key(&sequence, |sample| sample.sequence);
        if let Some(sample) = place.ok().and_then(|index| self.samples.get_mut(index)) {
            sample.delay.get_or_insert(delay);
            self.load = None;
        }
    }

    /// The train of up to `lead` packets at the frame's beginning, which ends before the
    /// first packet that has not arrived, or that left later: of a frame in parts, the next part.
    /// `None` if fewer than two are left or if they did not leave together.
    pub(super) fn train(&self, lead: usize) -> Option<Train> {
        let from = self.first_sent()?;
        let leading = || {
            let leading = self.samples.iter().take(lead);
            let together = leading.take_while(|each| each.sent.since(from) <= TOGETHER);
            together.map_while(|each| Some((each, each.sent + each.delay?)))
        };
        let (first, begin) = leading().next()?;
        let (last, end) = leading().last()?;
        let size = leading()
            .skip(1)
            .fold(Bytes::ZERO, |sum, (each, _)| sum + each.size);
        let span = end.since(begin);
        if size == Bytes::ZERO || last.sent.since(first.sent) * 2 > span {
            return None;
        }
        let (mut uneven, mut gaps, mut before) = (TimeDelta::ZERO, 0, begin);
        for (each, at) in leading().skip(1) {
            let even = span.scale(each.size.get() as f64 / size.get() as f64);
            let gap = at.since(before);
            uneven += gap.max(even) - gap.min(even);
            gaps += 1;
            before = at;
        }
        Some(Train {
            size,
            span,
            uneven: uneven / gaps.max(1),
        })
    }

    /// The frame's packets that arrived, in the order in which they left, and when they arrived, the
    /// clocks' offset included. Probes are left out.
    fn passed(&self) -> impl Iterator<Item = (&Sample, Time)> {
        let count = usize::try_from(self.packets).unwrap_or(usize::MAX);
        let packets = self.samples.iter().take(count);
        packets.filter_map(|each| Some((each, each.sent + each.delay?)))
    }

    /// When the frame's last packet arrived, the clocks' offset included; `None` before.
    fn end(&self) -> Option<Time> {
        self.passed().map(|(_, at)| at).max()
    }

    /// How the frame's packets arrived. `None` if fewer than two did, or if the last one was not behind
    /// the first.
    pub(super) fn arrival(&self) -> Option<FrameArrival> {
        let (_, begin) = self.passed().next()?;
        let (_, end) = self.passed().last()?;
        let following = || self.passed().skip(1);
        let size = following().fold(Bytes::ZERO, |sum, (each, _)| sum + each.size);
        if size == Bytes::ZERO || end < begin {
            return None;
        }
        let span = end.since(begin);
        let (mut pauses, mut before) = (TimeDelta::ZERO, begin);
        for (each, at) in following() {
            let even = span.scale(each.size.get() as f64 / size.get() as f64);
            let gap = at.since(before);
            pauses += (gap - turns::least(even)).max(TimeDelta::ZERO);
            before = at;
        }
        Some(FrameArrival { size, span, pauses })
    }

    /// Delay of the frame's first packet, less the time that the packet needs to pass a link
    /// of `rate`; `None` while the delay is unknown.
    pub(super) fn unloaded(&self, rate: Rate) -> Option<TimeDelta> {
        let first = self.samples.first()?;
        Some(first.delay? - rate.transmit_time(first.size))
    }

    /// The state at the interval's beginning, which is the end of the interval before;
    /// `None` while the delay of the first packet is unknown.
    pub(super) fn begin(&self, reference: &Reference) -> Option<End> {
        let first = self.samples.first()?;
        Some(End {
            at: first.sent,
            queue: reference.queue(first.delay?, first.size),
        })
    }

    /// The load of the interval: the work that came to the link per second, in seconds that
    /// the link needs for it. `None` before the frame's last packet is accounted for, or if
    /// no packet arrived. `end` is the beginning of the next interval, if it is known.
    pub(super) fn load(&mut self, reference: &Reference, end: Option<End>) -> Option<f64> {
        self.known?;
        if self.load.is_none() || end.is_some() != self.has_end {
            self.load = self.measure(reference, end);
            self.has_end = end.is_some();
        }
        let usual = self
            .usual
            .filter(|_| self.load.is_some_and(|load| load > 1.0));
        usual.or(self.load)
    }

    fn measure(&self, reference: &Reference, end: Option<End>) -> Option<f64> {
        let arrived = |sample: &Sample| Some((*sample, sample.delay?));
        let mut known = self.samples.iter().filter_map(arrived);
        let (first, delay) = known.next()?;
        let begin = reference.queue(delay, first.size);
        let mut least = begin;
        let mut busy = TimeDelta::ZERO;
        let mut size = first.size;
        let (mut at, mut before) = (first.sent, delay);
        let mut apparent = TimeDelta::ZERO;
        for (sample, delay) in known {
            let gap = sample.sent.since(at);
            busy += reference.busy(before).min(gap);
            apparent += reference.apparent(before).min(gap);
            least = least.min(reference.queue(delay, sample.size));
            size += sample.size;
            (at, before) = (sample.sent, delay);
        }
        // About the rest of the interval, only the queue at the last packet is known.
        let end = end.unwrap_or_else(|| {
            let end = first.sent + self.length;
            let queue = (at + reference.busy(before)).since(end);
            End { at: end, queue }
        });
        let gap = end.at.since(at);
        busy += reference.busy(before).min(gap);
        apparent += reference.apparent(before).min(gap);
        // At least the interval's own packets came, if the link looks busy for as long as
        // they need.
        let own = reference.transmission(size).min(apparent);
        let came = (busy + end.queue - begin).max(own).ratio(self.length);
        // A link that serves in turns lets packets wait that have no queue before them. Where it had
        // served the frame before the next one came, there was none.
        let has_left = || {
            self.end()
                .is_some_and(|last| last - reference.shortest <= end.at)
        };
        if reference.in_turns && has_left() {
            return Some(reference.transmission(size).ratio(self.length));
        }
        let stands = least.min(end.queue).ratio(self.length);
        Some(came + reference.standing_gain * stands)
    }
}
