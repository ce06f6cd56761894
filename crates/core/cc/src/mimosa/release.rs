//! Detection of packets that were held up somewhere, and then all came at once.

use mimosa_facts::{Cause, FrameId, SentPacket};
use mimosa_units::{PeerTime, Rate, TimeDelta};

/// Least number of consecutive packets that came too fast from which a hold-up is told.
const LEAST: u32 = 3;
/// Least part of a frame interval by which the time over which such packets were sent must
/// exceed the time in which they arrived. Coarse clocks bring packets together as well.
const LEAST_PART: f64 = 0.125;

/// What the controller believes at some time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Belief {
    /// The bitrate. `cause` is the rule behind it.
    pub(super) rate: Rate,
    pub(super) cause: Cause,
    /// The averaged load; `None` before there is one.
    pub(super) load: Option<f64>,
}

/// Consecutive packets that were held up.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldUp {
    /// The first frame that has packets among them.
    pub(super) from: FrameId,
    /// What the controller believed before they came.
    pub(super) before: Belief,
    /// One-way delay of the first of these packets.
    delay: TimeDelta,
}

/// The newest consecutive packets that came faster after one another than the link serves
/// packets.
#[derive(Debug, Default)]
pub(super) struct Release {
    row: u32,
    first: Option<HeldUp>,
    newest: Option<PeerTime>,
}

impl Release {
    /// Takes a packet that arrived at `at`. `soonest` is the least time after the arrival
    /// of the packet before, if the link served both; `None` if it is unknown. `now` is
    /// what the controller believes now. Returns the consecutive packets to which this one
    /// belongs, if they were held up.
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
