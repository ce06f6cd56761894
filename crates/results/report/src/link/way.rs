//! A frame's way through the link.

use mimosa_facts::{Fate, LinkPacket, Passage, SessionFrame};
use mimosa_units::{TimeDelta, nearest_rank, nearest_rank_index};
use serde::Serialize;

use crate::link::join::{Found, nanos};
use crate::link::traffic::wait;
use crate::spread::{mean, sorted};

/// The parts of a frame's delay, by the packet that arrived last. The parts add up to the delay.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Way {
    /// Time from the hand-over until the packet comes to the link.
    pub(crate) pace: TimeDelta,
    /// The packet's time in the link's queue.
    pub(crate) queue: TimeDelta,
    /// The packet's serialisation.
    pub(crate) serialise: TimeDelta,
    /// Time from the end of the link to the receiver.
    pub(crate) propagate: TimeDelta,
    /// Time from the arrival until the sender holds the acknowledgement.
    pub(crate) rest: TimeDelta,
    /// The frame delay.
    pub(crate) delay: TimeDelta,
}

impl Way {
    /// The way of `frame`, whose packets are `found` among `packets`; `None` unless all of them
    /// were found and the frame was acknowledged.
    pub(crate) fn new(
        frame: &SessionFrame,
        found: &Found,
        packets: &[Passage<LinkPacket>],
        offset: i64,
    ) -> Option<Self> {
        if found.missing > 0 {
            return None;
        }
        let delay = frame.life.delay()?;
        let due = |place: &usize| match packets[*place].fate {
            Fate::Arrived(at) => Some((at, *place)),
            Fate::Dropped | Fate::Lost => None,
        };
        let (due, last) = found.packets.iter().filter_map(due).max()?;
        let last = &packets[last];
        let finished = last.finished?;
        let offered = nanos(last.offered).saturating_sub(offset);
        let pace = offered.saturating_sub(nanos(frame.life.handed_over));
        let pace = TimeDelta::from_nanos(pace);
        Some(Self {
            pace,
            queue: wait(last)?,
            serialise: finished - last.started?,
            propagate: due - finished,
            rest: delay - pace - (due - last.offered),
            delay,
        })
    }
}

/// The parts of the frame delay, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WayMillis {
    /// Time from the hand-over until the last packet comes to the link: pacing, and the wait for
    /// retransmissions.
    pub pace: f64,
    /// The last packet's time in the link's queue, which is the true queueing delay.
    pub queue: f64,
    /// The last packet's serialisation.
    pub serialise: f64,
    /// Time from the end of the link to the receiver.
    pub propagate: f64,
    /// Time from the arrival until the sender holds the acknowledgement.
    pub rest: f64,
    /// The frame delay.
    pub delay: f64,
}

/// The parts of the frame delay for typical and slow frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WayShares {
    /// Number of frames whose parts are all known.
    pub frames: usize,
    /// The parts for frames with a delay near the median: means over the twentieth of the frames
    /// around it, which add up.
    pub typical: WayMillis,
    /// The parts for frames with a delay near the 95th percentile: means over the twentieth of the
    /// frames around it, which add up.
    pub slow: WayMillis,
    /// The median of each part by itself.
    pub p50: WayMillis,
    /// The 95th percentile of each part by itself.
    pub p95: WayMillis,
}

impl WayMillis {
    /// Names of the parts.
    pub(crate) const NAMES: [&'static str; 5] = ["pace", "queue", "serialise", "propagate", "rest"];

    /// The parts without their sum.
    pub(crate) const fn parts(&self) -> [f64; 5] {
        [
            self.pace,
            self.queue,
            self.serialise,
            self.propagate,
            self.rest,
        ]
    }

    fn each(
        ways: &[Way],
        value: impl Fn(&mut dyn Iterator<Item = f64>) -> Option<f64>,
    ) -> Option<Self> {
        let of =
            |part: fn(&Way) -> TimeDelta| value(&mut ways.iter().map(|way| part(way).as_millis()));
        Some(Self {
            pace: of(|way| way.pace)?,
            queue: of(|way| way.queue)?,
            serialise: of(|way| way.serialise)?,
            propagate: of(|way| way.propagate)?,
            rest: of(|way| way.rest)?,
            delay: of(|way| way.delay)?,
        })
    }

    /// The means of the parts, which add up.
    pub(crate) fn means(ways: &[Way]) -> Option<Self> {
        Self::each(ways, |values| mean(values))
    }
}

impl WayShares {
    /// The shares of `ways`; `None` without any.
    pub(crate) fn of(ways: impl Iterator<Item = Way>) -> Option<Self> {
        let mut ways: Vec<_> = ways.collect();
        ways.sort_by_key(|way| way.delay);
        let about = |share| {
            let (middle, half) = (nearest_rank_index(ways.len(), share), ways.len() / 40);
            let end = (middle + half + 1).min(ways.len());
            WayMillis::means(ways.get(middle.saturating_sub(half)..end)?)
        };
        let alone = |share| WayMillis::each(&ways, |values| nearest_rank(&sorted(values), share));
        Some(Self {
            frames: ways.len(),
            typical: about(0.50)?,
            slow: about(0.95)?,
            p50: alone(0.50)?,
            p95: alone(0.95)?,
        })
    }
}
