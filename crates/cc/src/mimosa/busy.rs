//! How much of an interval the link is known to have been busy.

use std::collections::VecDeque;

use mimosa_control::{FrameId, Sequence};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Frames remembered: two seconds at 240 frames a second.
const REMEMBERED: usize = 480;
/// Weights: that of a frame of no size in Mbit/s, and the frames after which one counts half.
const LIGHTEST: f64 = 1.0;
const AGE: f64 = 8.0;
/// A frame says nothing about a bitrate more than so many times its own.
const MOST_SCALED: f64 = 4.0;
/// Packets looked at of one frame; of a larger one the others count as unknown.
const MOST_SAMPLES: usize = 4_096;

/// A packet of a frame or a probe after it.
#[derive(Clone, Copy, Debug)]
struct Sample {
    sequence: Sequence,
    sent: Time,
    /// One-way, the clocks' offset included.
    delay: Option<TimeDelta>,
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
    /// Packets in a row at its end that came faster than the link serves.
    pub(super) rushed: u32,
    /// When its last media packet was accounted for.
    pub(super) known: Option<Time>,
    /// The frame was held up and then released: this in place of its share.
    pub(super) replaced: Option<f64>,
    samples: Vec<Sample>,
    share: Option<f64>,
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
            rushed: 0,
            known: None,
            replaced: None,
            samples: Vec::new(),
            share: None,
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

    fn is_open(&self) -> bool {
        self.resolved < self.packets && !self.is_decoded
    }

    /// A packet of it, or a probe after it, left.
    pub(super) fn sent(&mut self, sequence: Sequence, sent: Time) {
        let is_new = self
            .samples
            .last()
            .is_none_or(|last| last.sequence < sequence && last.sent <= sent);
        if is_new && self.samples.len() < MOST_SAMPLES {
            self.samples.push(Sample {
                sequence,
                sent,
                delay: None,
            });
        }
    }

    /// A packet's one-way delay is known.
    pub(super) fn arrived(&mut self, sequence: Sequence, delay: TimeDelta) {
        let place = self
            .samples
            .binary_search_by_key(&sequence, |sample| sample.sequence);
        if let Some(sample) = place.ok().and_then(|index| self.samples.get_mut(index)) {
            sample.delay.get_or_insert(delay);
            self.share = None;
        }
    }

    /// The share of the interval in which the link was busy with what it already had when
    /// each packet came to it, up to the next packet; after the last one without end.
    pub(super) fn share(&mut self, shortest: TimeDelta) -> Option<f64> {
        self.known?;
        if let Some(replaced) = self.replaced {
            return Some(replaced);
        }
        if self.share.is_none() {
            self.share = self.measure(shortest);
        }
        self.share
    }

    fn measure(&self, shortest: TimeDelta) -> Option<f64> {
        let mut busy = TimeDelta::ZERO;
        let mut before: Option<(Time, TimeDelta)> = None;
        for sample in &self.samples {
            let Some(delay) = sample.delay else {
                continue;
            };
            if let Some((sent, queue)) = before {
                busy += queue.min(sample.sent.since(sent));
            }
            before = Some((sample.sent, (delay - shortest).max(TimeDelta::ZERO)));
        }
        let (_, queue) = before?;
        Some((busy + queue).ratio(self.length))
    }
}

/// The recent intervals in order, oldest first.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    ring: VecDeque<Interval>,
    /// Every one before this position is closed.
    open: usize,
}

impl Intervals {
    /// Adds an interval; one that does not follow the others is not added.
    pub(super) fn push(&mut self, interval: Interval) {
        if self.ring.back().is_some_and(|last| last.id >= interval.id) {
            return;
        }
        if self.ring.len() == REMEMBERED {
            self.ring.pop_front();
            self.open = self.open.saturating_sub(1);
        }
        self.ring.push_back(interval);
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Interval> {
        let first = self.ring.front()?.id;
        let guess = usize::try_from(id.0.checked_sub(first.0)?).ok()?;
        let index = match self.ring.get(guess) {
            Some(interval) if interval.id == id => guess,
            _ => self.ring.binary_search_by_key(&id, |each| each.id).ok()?,
        };
        self.ring.get_mut(index)
    }

    /// The oldest frame on its way.
    pub(super) fn oldest_open(&mut self) -> Option<&Interval> {
        while self.ring.get(self.open).is_some_and(|each| !each.is_open()) {
            self.open += 1;
        }
        self.ring.get(self.open)
    }

    /// Mean share of the intervals known since `since`, each scaled to what it would be at
    /// `bitrate`, newer and larger ones with more weight.
    pub(super) fn smoothed(
        &mut self,
        since: Time,
        bitrate: Rate,
        shortest: TimeDelta,
    ) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        let recent = self.ring.iter_mut().rev();
        let recent = recent
            .skip_while(|each| each.known.is_none())
            .take_while(|each| each.known.is_none_or(|known| known > since));
        for (age, each) in recent.enumerate() {
            let at = each.bitrate();
            let Some(share) = each.share(shortest) else {
                continue;
            };
            if at == Rate::ZERO {
                continue;
            }
            let weight = (at.as_mbps() + LIGHTEST) / (age as f64 + AGE);
            sum += weight * share * bitrate.ratio(at).min(MOST_SCALED);
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }

    /// The newest share that is known.
    pub(super) fn newest_share(&mut self, shortest: TimeDelta) -> Option<f64> {
        self.ring
            .iter_mut()
            .rev()
            .find_map(|each| each.share(shortest))
    }
}
