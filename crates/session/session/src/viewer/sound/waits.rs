//! Measures how long frames wait for their turn, and by how much that is too long.
//!
//! The rule is that of the web page (`web/src/sound/waits.ts`): what counts is the shortest wait of
//! the last seconds. Packets that repeat earlier frames show that packets are lost, and a lost
//! frame comes with the next packet or the one after it. Nearly all frames should therefore wait
//! for that much longer. The few that are later than nearly all others need not, because they are
//! rarely lost as well.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use super::FRAME_TIME;

/// Length of a span, of which [`SPANS`] are remembered: 12 s. Our choice: a longer memory has fewer
/// gaps, and more delay.
const SPAN: TimeDelta = TimeDelta::from_millis(3_000);
const SPANS: usize = 4;
/// Number of a span's 300 frames that may be later than nearly all. Our choice.
const RARE: usize = 9;
/// Length of a span in which the loudspeaker's earliest request is remembered. The span before is
/// remembered as well, because a loudspeaker asks at uneven times.
pub(super) const UNEVEN: TimeDelta = TimeDelta::from_millis(500);

#[derive(Debug)]
struct Span {
    from: Time,
    /// The least differences between frames' timestamps and arrival times, in ascending order.
    least: Vec<TimeDelta>,
    /// Largest number of repeated frames in a packet.
    repeats: u32,
}

/// The largest differences between frames' timestamps and the times when they were taken, in the
/// present span and in the one before.
#[derive(Clone, Copy, Debug)]
struct Ahead {
    since: Time,
    now: TimeDelta,
    before: Option<TimeDelta>,
}

/// Remembers when frames came and when they were taken.
#[derive(Debug, Default)]
pub(super) struct Waits {
    spans: VecDeque<Span>,
    ahead: Option<Ahead>,
}

impl Waits {
    /// Notes that the frame with the timestamp `at` came at `now`, in a packet that repeats
    /// `repeats` frames.
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

    /// Notes that the frame with the timestamp `at` was taken at `now`.
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

    /// Forgets when frames were taken, because playback continues at another place or later.
    pub(super) fn moved(&mut self) {
        self.ahead = None;
    }

    /// How much the shortest wait exceeds `margin` (negative if it is shorter); `None` while that
    /// is unknown.
    pub(super) fn excess(&self, margin: TimeDelta) -> Option<TimeDelta> {
        let ahead = self.ahead?;
        let ahead = ahead.before.map_or(ahead.now, |it| it.max(ahead.now));
        Some(self.room()? - ahead - margin)
    }

    /// The timestamp of the frame that may be taken now, without any margin; `None` before a frame
    /// has come.
    pub(super) fn due(&self, now: Time) -> Option<TimeDelta> {
        Some(self.room()? + now.since(Time::ZERO))
    }

    /// A frame's timestamp less the time by which it is there.
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
