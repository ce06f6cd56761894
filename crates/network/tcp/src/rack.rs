//! Loss detection by time: RACK, RFC 8985, section 6.
//!
//! A segment is lost when one that left later has arrived and the reordering window has passed. The
//! window is zero once three segments are `SACKed` and no reordering was ever seen, which is the
//! `DupThresh` of RFC 6675.
//!
//! *Deviations*: transmissions are numbered, and ties of time are broken by that number instead of
//! the sequence. Timestamps are exact, so that a retransmission that is faster than the least round
//! trip is accepted if the timestamp says so. For the same reason, a segment that arrives after it
//! was judged lost counts as reordering, as in Linux (`tcp_try_undo_partial`); the RFC notices it
//! only through duplicates.

use mimosa_units::{Time, TimeDelta};

use crate::scoreboard::Delivered;

/// `DupThresh` (RFC 8985, section 4; RFC 6675, section 2).
const DUP_THRESH: usize = 3;
/// Recoveries for which a widened window lasts (RFC 8985, section 6.2, step 4).
const PERSISTENCE: u32 = 16;
/// Denominator of the window, which is in quarters of the least round trip (step 4).
const QUARTER: u32 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// Number of the latest transmission that arrived.
    newest: Option<u64>,
    rtt: TimeDelta,
    /// Highest offset acknowledged, cumulatively or by SACK.
    forward: u64,
    reordering_seen: bool,
    /// Offset at which the round ends in which a duplicate was reported; `None` if none was.
    duplicate_round: Option<u64>,
    multiplier: u32,
    persistence: u32,
}

impl Rack {
    pub(crate) const fn new() -> Self {
        Self {
            newest: None,
            rtt: TimeDelta::ZERO,
            forward: 0,
            reordering_seen: false,
            duplicate_round: None,
            multiplier: 1,
            persistence: 0,
        }
    }

    /// Steps 2 and 3: notes the latest arrival, and whether segments arrived in order.
    pub(crate) fn on_delivered(&mut self, now: Time, echo: Time, delivered: &[Delivered]) {
        for segment in delivered {
            let rtt = now.since(segment.last.at);
            let is_ambiguous = segment.is_retransmitted && echo < segment.last.at;
            if !is_ambiguous
                && self
                    .newest
                    .is_none_or(|newest| segment.last.number > newest)
            {
                self.newest = Some(segment.last.number);
                self.rtt = rtt;
            }
        }
        // In the order of the stream, not of the SACK blocks: blocks begin with the latest change,
        // which would look like reordering.
        let least = delivered
            .iter()
            .filter(|segment| !segment.is_retransmitted)
            .map(|segment| segment.end)
            .min();
        // The segment was delivered by its original, not by its retransmission.
        let earliest_repeat = delivered
            .iter()
            .filter(|segment| segment.is_retransmitted)
            .map(|segment| segment.last.at)
            .min();
        self.reordering_seen |= least.is_some_and(|end| end < self.forward)
            || earliest_repeat.is_some_and(|at| echo < at);
        let most = delivered.iter().map(|segment| segment.end).max();
        self.forward = self.forward.max(most.unwrap_or(0));
    }

    /// Step 4, first half: duplicates widen the window, once per round.
    pub(crate) fn on_duplicate(&mut self, is_duplicate: bool, una: u64, next: u64) {
        if self.duplicate_round.is_some_and(|round| una >= round) {
            self.duplicate_round = None;
        }
        if is_duplicate && self.duplicate_round.is_none() {
            self.duplicate_round = Some(next);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persistence = PERSISTENCE;
        }
    }

    /// Step 4: notes that a recovery has ended.
    pub(crate) fn on_recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.multiplier = 1;
        }
    }

    /// Steps 4 and 5: the number of the latest transmission that arrived, and the time after its
    /// departure from which an earlier one is lost.
    pub(crate) fn verdict(
        &self,
        is_recovering: bool,
        sacked: usize,
        min_rtt: Option<TimeDelta>,
        smoothed: Option<TimeDelta>,
    ) -> Option<(u64, TimeDelta)> {
        let is_impatient = !self.reordering_seen && (is_recovering || sacked >= DUP_THRESH);
        let window = if is_impatient {
            TimeDelta::ZERO
        } else {
            let window = min_rtt.unwrap_or(TimeDelta::ZERO) * self.multiplier / QUARTER;
            window.min(smoothed.unwrap_or(TimeDelta::ZERO))
        };
        self.newest.map(|newest| (newest, self.rtt + window))
    }
}
