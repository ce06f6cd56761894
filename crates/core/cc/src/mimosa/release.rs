//! Packets that were held up somewhere, and then all came at once.

use mimosa_facts::{Cause, FrameId, SentPacket};
use mimosa_units::{PeerTime, Rate, TimeDelta};

/// So many packets in a row that came too fast tell a hold-up,
const LEAST: u32 = 3;
/// if they had been sent over so much more time than they arrived in, as a part of a frame
/// interval: coarse clocks bring packets together as well.
const LEAST_PART: f64 = 0.125;

/// What is believed at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The bitrate, and the rule behind it.
    pub(super) rate: Rate,
    pub(super) cause: Cause,
    /// The averaged load.
    pub(super) load: Option<f64>,
}

/// A row of packets that were held up.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldUp {
    /// The first frame that has packets in it.
    pub(super) from: FrameId,
    /// What was believed before they came.
    pub(super) before: Belief,
    /// The first one's delay.
    delay: TimeDelta,
}

/// The newest packets that came faster after one another than the link serves.
#[derive(Debug, Default)]
pub(super) struct Release {
    row: u32,
    first: Option<HeldUp>,
    newest: Option<PeerTime>,
}

impl Release {
    /// A packet came at `at`, after another one no sooner than `soonest` if the link served
    /// both. Says of which row it is where that was held up; `now` is what is believed now.
    pub(super) fn arrived(
        &mut self,
        packet: &SentPacket,
        at: PeerTime,
        soonest: Option<TimeDelta>,
        interval: TimeDelta,
        now: Belief,
    ) -> Option<HeldUp> {
        let delay = at - packet.sent;
        let is_rushed = self
            .newest
            .replace(at)
            .zip(soonest)
            .is_some_and(|(before, soonest)| at - before < soonest);
        if !is_rushed {
            self.row = 0;
            self.first = Some(HeldUp {
                from: packet.frame,
                before: now,
                delay,
            });
            return None;
        }
        self.row = self.row.saturating_add(1);
        let first = self.first?;
        let is_held = self.row >= LEAST && first.delay - delay >= interval.scale(LEAST_PART);
        is_held.then_some(first)
    }
}
