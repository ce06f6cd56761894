//! The receiving end: reassembly, acknowledgements and the echo of marks.
//!
//! RFC 9293 (section 3.8.6.3, delayed acknowledgements), RFC 2018 (SACK), RFC
//! 2883 (D-SACK), RFC 3168 (section 6.1.3, echo) and RFC 8257 (section 3.2,
//! echo at each change).
//!
//! *Deviations*: the window is constant, the application reads at once, and nothing is reneged.
//! Unlike Linux, the receiver sends no quick acknowledgements at the start and none for a read of
//! pushed data, and does not compress those that report gaps (`tcp_comp_sack_delay_ns`). RFC 8257
//! sends two acknowledgements when the mark changes, because its echo is one bit; here the counts
//! are exact and one is enough. An acknowledgement out of order echoes the timestamp of the segment
//! that caused it, as RACK needs, where RFC 7323 echoes the last one in order.

use std::collections::{BTreeMap, VecDeque};

use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::wire::{Ack, Block, MAX_BLOCKS, Segment};

/// The longest time that an acknowledgement waits: Linux `TCP_DELACK_MIN`.
pub const DELAYED_ACK: TimeDelta = TimeDelta::from_millis(40);

/// Number of segments after which an acknowledgement is due at once (RFC 5681, section 4.2).
const SEGMENTS_PER_ACK: u32 = 2;

/// How the receiver reports marks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Feedback {
    /// Marks are echoed with the flag of RFC 3168.
    #[default]
    Classic,
    /// Marks are counted exactly, with an acknowledgement at once for each change between marked
    /// and unmarked, as for DCTCP and Prague.
    Accurate,
}

/// Takes segments, and makes acknowledgements.
#[derive(Clone, Debug)]
pub struct Receiver {
    feedback: Feedback,
    window: Bytes,
    next: u64,
    /// Data that arrived after a gap, from start to end; the ranges are disjoint and not adjacent.
    islands: BTreeMap<u64, u64>,
    /// An offset in each of the ranges that changed last, newest first.
    recent: VecDeque<u64>,
    pending: Option<Pending>,
    echo_congestion: bool,
    last_was_marked: bool,
    ce_segments: u64,
    ce_bytes: Bytes,
    duplicates: u64,
}

/// An acknowledgement that waits for another segment.
#[derive(Clone, Copy, Debug)]
struct Pending {
    segments: u32,
    echo: Time,
    deadline: Time,
}

/// Where a segment fell in the stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Arrival {
    InOrder,
    BesideGap,
    Duplicate,
    BeyondWindow,
}

impl Receiver {
    /// A receiver of a stream that begins at zero. It keeps at most `window` bytes beyond the data
    /// received in order.
    #[must_use]
    pub fn new(feedback: Feedback, window: Bytes) -> Self {
        Self {
            feedback,
            window,
            next: 0,
            islands: BTreeMap::new(),
            recent: VecDeque::with_capacity(MAX_BLOCKS + 1),
            pending: None,
            echo_congestion: false,
            last_was_marked: false,
            ce_segments: 0,
            ce_bytes: Bytes::ZERO,
            duplicates: 0,
        }
    }

    /// Takes a segment that arrived at `now`. Returns the acknowledgement if one is due at once.
    pub fn receive(&mut self, now: Time, segment: &Segment) -> Option<Ack> {
        if segment.cwr {
            self.echo_congestion = false;
        }
        let is_marked = segment.ecn == Ecn::Ce;
        if is_marked {
            self.echo_congestion = true;
            self.ce_segments = self.ce_segments.saturating_add(1);
            self.ce_bytes += segment.length;
        }
        let mark_changed = self.feedback == Feedback::Accurate && is_marked != self.last_was_marked;
        self.last_was_marked = is_marked;

        let arrival = self.place(segment.sequence, segment.end());
        if arrival == Arrival::Duplicate {
            self.duplicates = self.duplicates.saturating_add(1);
        }
        let pending = match self.pending {
            Some(pending) => Pending {
                segments: pending.segments + 1,
                ..pending
            },
            None => Pending {
                segments: 1,
                echo: segment.sent,
                deadline: now + DELAYED_ACK,
            },
        };
        if arrival == Arrival::InOrder && !mark_changed && pending.segments < SEGMENTS_PER_ACK {
            self.pending = Some(pending);
            return None;
        }
        let echo = if arrival == Arrival::InOrder {
            pending.echo
        } else {
            segment.sent
        };
        Some(self.acknowledge(echo, arrival == Arrival::Duplicate))
    }

    /// When to call [`timer`](Self::timer) if nothing arrives before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.pending.map(|pending| pending.deadline)
    }

    /// The delayed acknowledgement, if its time has come.
    pub fn timer(&mut self, now: Time) -> Option<Ack> {
        let pending = self.pending.filter(|pending| pending.deadline <= now)?;
        Some(self.acknowledge(pending.echo, false))
    }

    /// Payload that the application has received, in order and without gaps.
    #[must_use]
    pub const fn delivered(&self) -> Bytes {
        Bytes::new(self.next)
    }

    /// Number of segments that brought no new data.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    fn acknowledge(&mut self, echo: Time, is_duplicate: bool) -> Ack {
        self.pending = None;
        Ack {
            cumulative: self.next,
            sacks: self.blocks(),
            is_duplicate,
            ece: self.echo_congestion,
            ce_segments: self.ce_segments,
            ce_bytes: self.ce_bytes,
            echo,
        }
    }

    /// The ranges that changed last, without repetition.
    fn blocks(&mut self) -> [Option<Block>; MAX_BLOCKS] {
        let mut blocks = [None; MAX_BLOCKS];
        let mut kept = VecDeque::with_capacity(MAX_BLOCKS + 1);
        for &position in &self.recent {
            let Some((&start, &end)) = self.islands.range(..=position).next_back() else {
                continue;
            };
            let block = Some(Block { start, end });
            if end <= position || blocks.contains(&block) {
                continue;
            }
            if let Some(free) = blocks.get_mut(kept.len()) {
                *free = block;
                kept.push_back(position);
            }
        }
        self.recent = kept;
        blocks
    }

    fn place(&mut self, start: u64, end: u64) -> Arrival {
        if end.saturating_sub(self.next) > self.window.get() {
            return Arrival::BeyondWindow;
        }
        if end <= self.next || start >= end || self.covers(start, end) {
            return Arrival::Duplicate;
        }
        if start > self.next {
            self.add_island(start, end);
            self.recent.push_front(start);
            self.recent.truncate(MAX_BLOCKS);
            return Arrival::BesideGap;
        }
        let had_gap = !self.islands.is_empty();
        self.next = end;
        while let Some(island) = self.islands.first_entry() {
            if *island.key() > self.next {
                break;
            }
            self.next = self.next.max(island.remove());
        }
        if had_gap {
            Arrival::BesideGap
        } else {
            Arrival::InOrder
        }
    }

    fn covers(&self, start: u64, end: u64) -> bool {
        let before = self.islands.range(..=start).next_back();
        before.is_some_and(|(_, &island_end)| end <= island_end)
    }

    fn add_island(&mut self, mut start: u64, mut end: u64) {
        while let Some((&other_start, &other_end)) = self.islands.range(..=end).next_back() {
            if other_end < start {
                break;
            }
            start = start.min(other_start);
            end = end.max(other_end);
            self.islands.remove(&other_start);
        }
        self.islands.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 1000;

    fn segment(index: u64, ecn: Ecn) -> Segment {
        Segment {
            sequence: index * LENGTH,
            length: Bytes::new(LENGTH),
            ecn,
            cwr: false,
            is_retransmission: false,
            sent: Time::from_millis(index),
        }
    }

    fn receiver(feedback: Feedback) -> Receiver {
        Receiver::new(feedback, Bytes::new(1_000_000))
    }

    #[test]
    fn every_second_segment_or_forty_milliseconds() {
        let mut receiver = receiver(Feedback::Classic);
        let now = Time::from_millis(100);
        assert_eq!(receiver.receive(now, &segment(0, Ecn::NotEct)), None);
        let ack = receiver.receive(now, &segment(1, Ecn::NotEct)).unwrap();
        assert_eq!((ack.cumulative, ack.echo), (2 * LENGTH, Time::ZERO));
        assert_eq!(receiver.receive(now, &segment(2, Ecn::NotEct)), None);
        assert_eq!(receiver.deadline(), Some(now + DELAYED_ACK));
        assert_eq!(receiver.timer(now), None, "too early");
        let ack = receiver.timer(now + DELAYED_ACK).unwrap();
        assert_eq!(ack.cumulative, 3 * LENGTH);
        assert_eq!(receiver.deadline(), None);
    }

    #[test]
    fn gaps_are_told_at_once_the_latest_first() {
        let mut receiver = receiver(Feedback::Classic);
        let mut ack = None;
        for index in [2, 4, 6, 8, 5] {
            ack = receiver.receive(Time::ZERO, &segment(index, Ecn::NotEct));
        }
        let block = |from: u64, to: u64| {
            Some(Block {
                start: from * LENGTH,
                end: to * LENGTH,
            })
        };
        let ack = ack.unwrap();
        assert_eq!(ack.cumulative, 0);
        assert_eq!(ack.sacks, [block(4, 7), block(8, 9), None]);
        for index in [0, 1, 3] {
            receiver.receive(Time::ZERO, &segment(index, Ecn::NotEct));
        }
        assert_eq!(receiver.delivered(), Bytes::new(7 * LENGTH));
        let ack = receiver.receive(Time::ZERO, &segment(4, Ecn::NotEct));
        assert!(ack.unwrap().is_duplicate);
        assert_eq!(receiver.duplicates(), 1);
    }

    #[test]
    fn marks_are_echoed_until_answered_and_counted() {
        let mut receiver = receiver(Feedback::Accurate);
        let now = Time::ZERO;
        let ack = receiver.receive(now, &segment(0, Ecn::Ce)).unwrap();
        assert!(ack.ece, "a change is told at once");
        assert_eq!((ack.ce_segments, ack.ce_bytes), (1, Bytes::new(LENGTH)));
        let ack = receiver.receive(now, &segment(1, Ecn::Ect0)).unwrap();
        assert!(ack.ece, "not yet answered");
        let answer = Segment {
            cwr: true,
            ..segment(2, Ecn::Ect0)
        };
        assert_eq!(receiver.receive(now, &answer), None);
        let ack = receiver.receive(now, &segment(3, Ecn::Ect0)).unwrap();
        assert!(!ack.ece);
        assert_eq!(ack.ce_segments, 1);
    }
}
