//! How long frames wait for their turn, and by how much that is too long.
//!
//! The page's rule (`web/src/sound/waits.ts`): what counts is the shortest wait of the last
//! seconds. Packets that repeat earlier frames say that some are lost; a frame that is lost
//! comes with the next packet or the one behind. So what nearly all frames wait is to be so
//! much more; it is rare that a frame is lost where the others are late.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use super::FRAME_TIME;

/// Waits are remembered as the least of each so long, of which there are [`SPANS`]: for
/// 12 s. Chosen: longer has fewer gaps, and more delay.
const SPAN: TimeDelta = TimeDelta::from_millis(3_000);
const SPANS: usize = 4;
/// So many of a span's 300 frames may be later than nearly all. Chosen.
const RARE: usize = 9;
/// A loudspeaker asks unevenly. How early it has been is remembered for so long, and for as
/// long before.
pub(super) const UNEVEN: TimeDelta = TimeDelta::from_millis(500);

#[derive(Debug)]
struct Span {
    from: Time,
    /// Frames' times less the time when they came: the least of them, in order.
    least: Vec<TimeDelta>,
    /// Most earlier frames in a packet.
    repeats: u32,
}

/// A frame's time less the time when it was taken, at most.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    since: Time,
    now: TimeDelta,
    before: Option<TimeDelta>,
}

/// Remembers.
#[derive(Debug, Default)]
pub(super) struct Waits {
    spans: VecDeque<Span>,
    ahead: Option<Ahead>,
}

impl Waits {
    /// A frame of the time `at` has come at `now`; its packet has so many earlier ones.
    pub(super) fn came(&mut self, at: TimeDelta, repeats: u32, now: Time) {
        let offset = at - now.since(Time::ZERO);
        match self.spans.back_mut() {
            Some(last) if now.since(last.from) < SPAN => {
                last.repeats = last.repeats.max(repeats);
                let place = last.least.partition_point(|least| *least <= offset);
                last.least.insert(place, offset);
                last.least.truncate(RARE + 1);
            }
            _ => {
                if self.spans.len() == SPANS {
                    self.spans.pop_front();
                }
                self.spans.push_back(Span {
                    from: now,
                    least: vec![offset],
                    repeats,
                });
            }
        }
    }

    /// The frame of the time `at` was taken at `now`.
    pub(super) fn taken(&mut self, at: TimeDelta, now: Time) {
        let early = at - now.since(Time::ZERO);
        self.ahead = Some(match self.ahead {
            Some(ahead) if now.since(ahead.since) < UNEVEN => Ahead {
                now: ahead.now.max(early),
                ..ahead
            },
            before => Ahead {
                since: now,
                now: early,
                before: before.map(|ahead| ahead.now),
            },
        });
    }

    /// What is played goes on elsewhere, or later.
    pub(super) fn moved(&mut self) {
        self.ahead = None;
    }

    /// By so much the shortest wait is longer than `margin`, or, below zero, shorter; `None`
    /// while that is not known.
    pub(super) fn excess(&self, margin: TimeDelta) -> Option<TimeDelta> {
        let ahead = self.ahead?;
        let ahead = ahead.before.map_or(ahead.now, |it| it.max(ahead.now));
        Some(self.room()? - ahead - margin)
    }

    /// The time of the frame that may be taken now, without any margin; `None` before the
    /// first came.
    pub(super) fn due(&self, now: Time) -> Option<TimeDelta> {
        Some(self.room()? + now.since(Time::ZERO))
    }

    /// A frame's time less the time by when it is there.
    fn room(&self) -> Option<TimeDelta> {
        let repeats = self.spans.iter().map(|span| span.repeats).max()?;
        let all = self.spans.iter().filter_map(|span| span.least.first());
        let most = self.spans.iter().map(|span| {
            let rare = span.least.get(RARE);
            *rare.unwrap_or(&span.least[0])
        });
        let most = most.min()? - FRAME_TIME * repeats;
        Some((*all.min()?).min(most))
    }
}
