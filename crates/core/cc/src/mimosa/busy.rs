//! The load of a link, from how long each packet of a frame waited.

use mimosa_facts::{FrameId, Sequence};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::train::Train;
use crate::frame_ring::Remembered;

/// Packets looked at of one frame; of a larger one the others count as unknown.
const MOST_SAMPLES: usize = 4_096;

/// A packet of a frame or a probe after it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sequence: Sequence,
    sent: Time,
    size: Bytes,
    /// One-way, the clocks' offset included.
    delay: Option<TimeDelta>,
    is_marked: bool,
}

/// What delays are compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reference {
    /// The smallest one-way delay, of a packet without size.
    pub(super) shortest: TimeDelta,
    /// By how much delays are longer than the smallest one for no queue's sake, in the mean.
    pub(super) noise: TimeDelta,
    /// The link's rate, once it is known.
    pub(super) link: Option<Rate>,
    /// How much of a queue that stands adds to the load.
    pub(super) standing_gain: f64,
}

impl Reference {
    /// From a packet's arrival at the link until it has left, if nothing else made it wait.
    fn apparent(&self, delay: TimeDelta) -> TimeDelta {
        (delay - self.shortest).max(TimeDelta::ZERO)
    }

    /// The same in the mean of many packets. Of a single one it may be less than nothing.
    pub(super) fn busy(&self, delay: TimeDelta) -> TimeDelta {
        self.apparent(delay) - self.noise
    }

    /// The queue that a packet of `size` met.
    fn queue(&self, delay: TimeDelta, size: Bytes) -> TimeDelta {
        (self.busy(delay) - self.transmission(size)).max(TimeDelta::ZERO)
    }

    /// What the link needs for `size`; nothing before its rate is known.
    fn transmission(&self, size: Bytes) -> TimeDelta {
        self.link
            .map_or(TimeDelta::ZERO, |link| link.transmit_time(size))
    }
}

/// When an interval ended, and the queue at that moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    at: Time,
    queue: TimeDelta,
}

/// One frame and its probes: everything sent until the next one begins.
#[derive(Debug)]
pub(super) struct Interval {
    pub(super) id: FrameId,
    pub(super) length: TimeDelta,
    pub(super) size: Bytes,
    pub(super) packets: u32,
    /// Packets that arrived or were lost, first transmissions only.
    pub(super) resolved: u32,
    /// The receiver has it, whatever is known of its packets.
    pub(super) is_decoded: bool,
    /// When its last media packet was accounted for.
    pub(super) known: Option<Time>,
    /// The frame was held up and then released: this in place of a load above one.
    pub(super) usual: Option<f64>,
    samples: Vec<Sample>,
    load: Option<f64>,
    /// Whether `load` knows how the interval ended.
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

    /// The bitrate at which it was encoded.
    pub(super) fn bitrate(&self) -> Rate {
        Rate::of(self.size, self.length)
    }

    /// When its first packet left.
    pub(super) fn first_sent(&self) -> Option<Time> {
        self.samples.first().map(|sample| sample.sent)
    }

    /// A packet of it, or a probe after it, left.
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
                is_marked: false,
            });
        }
    }

    /// A packet's one-way delay is known, and whether a queue marked it.
    pub(super) fn arrived(&mut self, sequence: Sequence, delay: TimeDelta, is_marked: bool) {
        let place = self
            .samples
            .binary_search_by_key(&sequence, |sample| sample.sequence);
        if let Some(sample) = place.ok().and_then(|index| self.samples.get_mut(index)) {
            sample.delay.get_or_insert(delay);
            sample.is_marked |= is_marked;
            self.load = None;
        }
    }

    /// The train of `lead` packets at its beginning. `None` where they did not leave
    /// together.
    pub(super) fn train(&self, lead: usize) -> Option<Train> {
        let leading = || {
            let leading = self.samples.iter().take(lead);
            leading.map_while(|each| Some((each, each.sent + each.delay?)))
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

    /// The delay of its first packet, less what that needs to pass a link of `rate`.
    pub(super) fn unloaded(&self, rate: Rate) -> Option<TimeDelta> {
        let first = self.samples.first()?;
        Some(first.delay? - rate.transmit_time(first.size))
    }

    /// How it begins, which is how the one before it ended.
    pub(super) fn begin(&self, reference: &Reference) -> Option<End> {
        let first = self.samples.first()?;
        Some(End {
            at: first.sent,
            queue: reference.queue(first.delay?, first.size),
        })
    }

    /// The load of the interval: what came to the link for every second, in seconds that the
    /// link needs for it. `None` before its last packet is accounted for.
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
        let (mut marked, mut all) = (u32::from(first.is_marked), 1_u32);
        let mut size = first.size;
        let (mut at, mut before) = (first.sent, delay);
        let mut apparent = TimeDelta::ZERO;
        for (sample, delay) in known {
            let gap = sample.sent.since(at);
            busy += reference.busy(before).min(gap);
            apparent += reference.apparent(before).min(gap);
            least = least.min(reference.queue(delay, sample.size));
            marked += u32::from(sample.is_marked);
            all += 1;
            size += sample.size;
            (at, before) = (sample.sent, delay);
        }
        // Nothing else is known of the rest than what was queued at the last packet.
        let end = end.unwrap_or_else(|| {
            let end = first.sent + self.length;
            let queue = (at + reference.busy(before)).since(end);
            End { at: end, queue }
        });
        let gap = end.at.since(at);
        busy += reference.busy(before).min(gap);
        apparent += reference.apparent(before).min(gap);
        // At least its own packets came, as long as the link looks as busy as that.
        let own = reference.transmission(size).min(apparent);
        let came = (busy + end.queue - begin).max(own).ratio(self.length);
        let stands = least.min(end.queue).ratio(self.length);
        // A packet that was marked met a queue, whatever its delay says.
        let met = f64::from(marked) / f64::from(all);
        Some((came + reference.standing_gain * stands).max(met))
    }
}
