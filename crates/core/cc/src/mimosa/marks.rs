//! Marks, answered as a scalable congestion control answers them.
//!
//! RFC 9331, section 4.3: whoever sends ECT(1) answers marks in proportion to their rate, so that
//! flows with the same share of marked packets rest at the same bitrate. The answer is that of
//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control, section 2.4): in a virtual round trip
//! T, the round trip or 25 ms, the bitrate grows by one full packet M, and falls by a part of
//! itself in proportion to the averaged share p of marked data if there was a mark:
//!
//! ```text
//! B <- B (1 + t / T (M / (B T) - p / n))          once a feedback round, of length t
//! ```
//!
//! A flow rests where T brings n marked packets. Prague has n = 2. The packets of a frame come to a
//! queue in a bunch, and more of them are marked than of an even flow with the same bitrate:
//! `marks_at_rest` is higher by so much.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::FULL;

/// The least virtual round trip (`udp_prague`: reference RTT).
const REFERENCE: TimeDelta = TimeDelta::from_millis(25);
/// Averaging times since the newest mark after which marks say nothing about the flow's part. Our
/// choice: a mark then has a twentieth of its weight.
const RECENT: u32 = 3;
/// Time since the newest mark after which the path counts as one without a queue that marks. Our
/// choice: a flow that rests below the link's rate may go without a mark for many seconds.
const FORGOTTEN: TimeDelta = TimeDelta::from_millis(60_000);
/// Most virtual round trips that a round counts for. Our choice: a round that a pause makes longer
/// is no reason to grow by more.
const LONGEST_ROUND: f64 = 4.0;

/// The marks of the newest packets.
#[derive(Debug)]
pub(super) struct Marks {
    /// Time over which the share of marks is averaged.
    window: TimeDelta,
    /// n of the law.
    at_rest: f64,
    /// Bytes that arrived and those of them that were marked, older ones with less weight.
    all: f64,
    marked: f64,
    updated: Time,
    newest: Option<Time>,
    /// When the newest round was answered.
    answered: Time,
}

impl Marks {
    pub(super) const fn new(window: TimeDelta, at_rest: f64) -> Self {
        Self {
            window,
            at_rest,
            all: 0.0,
            marked: 0.0,
            updated: Time::ZERO,
            newest: None,
            answered: Time::ZERO,
        }
    }

    /// Takes a packet that arrived, whose report came at `now`.
    pub(super) fn arrived(&mut self, now: Time, size: Bytes, is_marked: bool) {
        if now > self.updated {
            let kept = libm::exp(-now.since(self.updated).ratio(self.window));
            self.all *= kept;
            self.marked *= kept;
            self.updated = now;
        }
        self.all += size.get() as f64;
        if is_marked {
            self.marked += size.get() as f64;
            self.newest = Some(now);
        }
    }

    /// Whether the path has a queue that marks.
    pub(super) fn are_met(&self, now: Time) -> bool {
        self.newest.is_some_and(|at| now.since(at) <= FORGOTTEN)
    }

    /// Whether marks are so recent that they say what the flow's part is.
    pub(super) fn are_recent(&self, now: Time) -> bool {
        self.newest
            .is_some_and(|at| now.since(at) <= self.window * RECENT)
    }

    /// The factor by which a round that ends at `now` changes `bitrate`, and the round's end is
    /// remembered.
    pub(super) fn answer(&mut self, now: Time, bitrate: Rate, round_trip: TimeDelta) -> f64 {
        let before = std::mem::replace(&mut self.answered, now);
        let virtual_round_trip = round_trip.max(REFERENCE);
        let round = now.since(before).ratio(virtual_round_trip);
        let in_flight = bitrate.amount_in(virtual_round_trip).get() as f64;
        let growth = FULL.get() as f64 / in_flight.max(FULL.get() as f64);
        let has_marks = self.newest.is_some_and(|at| at > before);
        let fall = if has_marks {
            self.marked / self.all.max(1.0) / self.at_rest
        } else {
            0.0
        };
        1.0 + round.clamp(0.0, LONGEST_ROUND) * (growth - fall)
    }
}
