//! A link's rate over time, and when a packet has passed at that rate.

use std::sync::Arc;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Work for one bit. Work is counted in bits times the nanoseconds of a second,
/// so that a rate times nanoseconds is exact.
const WORK_PER_BIT: u128 = 1_000_000_000;

/// A piece of a schedule: the properties of a link from one time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// When this piece begins, from the start of the schedule, or of each round where it repeats.
    pub at: TimeDelta,
    /// The link's rate in this piece; zero for an outage.
    pub rate: Rate,
    /// One-way propagation delay in this piece; `None` where the schedule does not state it.
    pub delay: Option<TimeDelta>,
    /// Share of packets lost in this piece, from 0 to 1; `None` where the
    /// schedule does not state it.
    pub loss: Option<f64>,
}

/// The work of sending a packet of `size`, in bits times the nanoseconds of a second.
pub(crate) fn work_of(size: Bytes) -> u128 {
    u128::from(size.bits()) * WORK_PER_BIT
}

/// The properties of a link over time: pieces in which they are constant, which
/// may repeat in rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pieces: Arc<[Piece]>,
    /// Length of a round, after which the schedule begins again; `None` if the
    /// last piece lasts for ever.
    period: Option<TimeDelta>,
}

impl Schedule {
    /// A schedule with the same rate for ever, which states neither propagation nor loss.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self {
            pieces: Arc::new([Piece {
                at: TimeDelta::ZERO,
                rate,
                delay: None,
                loss: None,
            }]),
            period: None,
        }
    }

    /// A schedule of these pieces, which repeats after `period` if that is
    /// given. `None` unless the first piece begins at zero, each later one
    /// after the one before it, and the last one before `period`.
    #[must_use]
    pub fn new(pieces: Vec<Piece>, period: Option<TimeDelta>) -> Option<Self> {
        let ordered = pieces.is_sorted_by(|a, b| a.at < b.at);
        let begins = pieces.first()?.at == TimeDelta::ZERO;
        let ends = period.is_none_or(|period| pieces.last().is_some_and(|last| last.at < period));
        (ordered && begins && ends).then(|| Self {
            pieces: pieces.into(),
            period,
        })
    }

    /// A cursor at the beginning of the schedule.
    pub(crate) fn cursor(self) -> Cursor {
        let mut cursor = Cursor {
            schedule: self,
            index: 0,
            round: Time::ZERO,
            ends: Time::MAX,
        };
        cursor.ends = cursor.end_of(0);
        cursor
    }

    /// The rate at `from`, then the rate of each piece that begins before
    /// `until`, each with the time from which on it applies. Nothing when
    /// `from` is not before `until`.
    pub fn steps(&self, from: Time, until: Time) -> impl Iterator<Item = (Time, Rate)> {
        let mut cursor = self.clone().cursor();
        let mut at = from;
        std::iter::from_fn(move || {
            (at < until).then(|| {
                cursor.seek(at);
                (std::mem::replace(&mut at, cursor.ends), cursor.piece().rate)
            })
        })
    }

    /// The most data that can pass between `from` and `to`, in whole bytes;
    /// zero when `to` is before `from`.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> Bytes {
        let before = self.work_until(from);
        let bits = self.work_until(to.max(from)).saturating_sub(before) / WORK_PER_BIT;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// The work that the link can do from the beginning of the schedule to `at`.
    pub(crate) fn work_until(&self, at: Time) -> u128 {
        let mut nanos = u128::from(at.as_nanos());
        let mut work = 0;
        if let Some(period) = self.period {
            let period = u128::from(period.as_nanos().unsigned_abs().max(1));
            work = nanos / period * self.work_per_round();
            nanos %= period;
        }
        work + self.work_in_round(nanos)
    }

    /// The work that the link can do in the first `nanos` nanoseconds of a round.
    fn work_in_round(&self, nanos: u128) -> u128 {
        let begin = |piece: &Piece| u128::from(piece.at.as_nanos().unsigned_abs());
        let ends = self.pieces.iter().skip(1).map(begin);
        self.pieces
            .iter()
            .zip(ends.chain(std::iter::once(u128::MAX)))
            .map(|(piece, end)| {
                let span = end.min(nanos).saturating_sub(begin(piece));
                u128::from(piece.rate.as_bps()) * span
            })
            .sum()
    }

    /// The work that the link can do in a whole round; zero for a schedule that does not repeat.
    fn work_per_round(&self) -> u128 {
        self.period.map_or(0, |period| {
            self.work_in_round(u128::from(period.as_nanos().unsigned_abs()))
        })
    }
}

/// A position in a schedule that only moves forwards.
#[derive(Debug)]
pub(crate) struct Cursor {
    schedule: Schedule,
    index: usize,
    /// When the present round began.
    round: Time,
    /// When the present piece ends.
    ends: Time,
}

impl Cursor {
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn piece(&self) -> &Piece {
        &self.schedule.pieces[self.index]
    }

    /// Moves forwards to the piece that applies at `now`. Returns whether the
    /// cursor has moved to another piece.
    pub(crate) fn seek(&mut self, now: Time) -> bool {
        let mut moved = false;
        if now >= self.ends
            && let Some(period) = self.schedule.period
        {
            let rounds = now.since(self.round).as_nanos() / period.as_nanos().max(1);
            if rounds > 1 {
                // The cursor goes to the last piece of the round before that of `now`.
                let before = (rounds - 1).saturating_mul(period.as_nanos());
                self.round += TimeDelta::from_nanos(before);
                self.index = self.schedule.pieces.len() - 1;
                self.ends = self.round + period;
                moved = true;
            }
        }
        while now >= self.ends {
            self.index += 1;
            if self.index == self.schedule.pieces.len() {
                self.index = 0;
                self.round = self.ends;
            }
            self.ends = self.end_of(self.index);
            moved = true;
        }
        moved
    }

    /// The work that the link can do from `from`, which must not be before the time of the last
    /// call, until `to`.
    pub(crate) fn work_between(&mut self, from: Time, to: Time) -> u128 {
        let (mut at, mut work) = (from, 0);
        while at < to {
            self.seek(at);
            let end = self.ends.min(to);
            let span = u128::from(end.since(at).as_nanos().unsigned_abs());
            work += u128::from(self.piece().rate.as_bps()) * span;
            // A piece is never empty.
            at = end.max(at + TimeDelta::from_nanos(1));
        }
        work
    }

    /// When a packet of `size` whose first bit leaves at `start` has passed;
    /// `None` for never. Leaves the cursor in the piece in which the packet
    /// ends.
    pub(crate) fn finish(&mut self, start: Time, size: Bytes) -> Option<Time> {
        self.seek(start);
        let rate = self.piece().rate;
        let whole = start + rate.transmit_time(size);
        if whole <= self.ends && rate > Rate::ZERO {
            return Some(whole);
        }
        self.finish_across(start, size)
    }

    /// Does the work of [`Self::finish`] for a packet that begins in one piece
    /// and ends in another, or begins in an outage.
    #[cold]
    fn finish_across(&mut self, start: Time, size: Bytes) -> Option<Time> {
        self.finish_work(start, work_of(size))
    }

    /// When the rest of a packet has passed that goes on at `start` and has the
    /// work `left`; `None` for never. Leaves the cursor in the piece in which
    /// the packet ends.
    pub(crate) fn finish_work(&mut self, start: Time, mut left: u128) -> Option<Time> {
        self.seek(start);
        let mut at = start;
        loop {
            let rate = u128::from(self.piece().rate.as_bps());
            let span = u128::from(self.ends.since(at).as_nanos().unsigned_abs());
            let lasting = self.ends == Time::MAX;
            if rate > 0 && (lasting || left <= rate * span) {
                let nanos = i64::try_from(left.div_ceil(rate)).ok()?;
                return Some(at + TimeDelta::from_nanos(nanos));
            }
            if lasting {
                return None;
            }
            left -= rate * span;
            at = self.ends;
            self.seek(at);
            if self.index == 0 && at == self.round {
                at = self.skip_rounds(at, &mut left)?;
            }
        }
    }

    /// Skips the whole rounds from `at`, the beginning of a round, at whose end
    /// work is still left, and takes their work from `left`. Returns the
    /// beginning of the first round that is not skipped; `None` when no round
    /// does any work, or when the time is too large.
    fn skip_rounds(&mut self, at: Time, left: &mut u128) -> Option<Time> {
        let Some(period) = self.schedule.period else {
            return Some(at);
        };
        let per_round = self.schedule.work_per_round();
        // The round in which the work ends is not skipped.
        let rounds = (*left).checked_sub(1)?.checked_div(per_round)?;
        *left -= rounds * per_round;
        let nanos = rounds * u128::from(period.as_nanos().unsigned_abs());
        let at = at + TimeDelta::from_nanos(i64::try_from(nanos).ok()?);
        self.round = at;
        self.ends = self.end_of(0);
        Some(at)
    }

    fn end_of(&self, index: usize) -> Time {
        let pieces = &self.schedule.pieces;
        match (pieces.get(index + 1), self.schedule.period) {
            (Some(next), _) => self.round + next.at,
            (None, Some(period)) => self.round + period,
            (None, None) => Time::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(ms: i64, mbps: u64) -> Piece {
        Piece {
            at: TimeDelta::from_millis(ms),
            rate: Rate::from_kbps(mbps * 1_000),
            delay: None,
            loss: None,
        }
    }

    fn finish_ms(schedule: &Schedule, start_ms: u64, bytes: u64) -> Option<f64> {
        schedule
            .clone()
            .cursor()
            .finish(Time::from_millis(start_ms), Bytes::new(bytes))
            .map(|at| at.as_secs() * 1e3)
    }

    #[test]
    fn a_packet_is_serialised_across_a_change_of_rate() {
        // 1250 bytes are 10 kbit: 1 ms at 10 Mbit/s, 0.5 ms at 20.
        let steps = Schedule::new(vec![piece(0, 10), piece(10, 20)], None).unwrap();
        assert_eq!(finish_ms(&steps, 0, 1250), Some(1.0));
        assert_eq!(finish_ms(&steps, 10, 1250), Some(10.5));
        // Half of the packet passes before the change of rate, half after it.
        let half = steps
            .clone()
            .cursor()
            .finish(Time::from_nanos(9_500_000), Bytes::new(1250));
        assert_eq!(half, Some(Time::from_nanos(10_250_000)));
    }

    #[test]
    fn an_outage_delays_and_a_final_one_ends_everything() {
        let outage = Schedule::new(vec![piece(0, 10), piece(1, 0), piece(5, 10)], None).unwrap();
        assert_eq!(finish_ms(&outage, 1, 1250), Some(6.0));
        let dead = Schedule::new(vec![piece(0, 10), piece(1, 0)], None).unwrap();
        assert_eq!(finish_ms(&dead, 1, 1250), None);
    }

    #[test]
    fn a_trace_repeats() {
        let period = Some(TimeDelta::from_millis(2));
        let trace = Schedule::new(vec![piece(0, 10), piece(1, 0)], period).unwrap();
        assert_eq!(finish_ms(&trace, 0, 3750), Some(5.0), "1 ms in every 2");
        assert_eq!(
            trace.capacity(Time::ZERO, Time::from_millis(10)),
            Bytes::new(5 * 1250)
        );
    }

    #[test]
    fn steps_begin_with_the_rate_that_holds_and_end_in_time() {
        let period = Some(TimeDelta::from_millis(4));
        let trace = Schedule::new(vec![piece(0, 10), piece(1, 20)], period).unwrap();
        let steps: Vec<_> = trace
            .steps(Time::from_millis(2), Time::from_millis(8))
            .map(|(at, rate)| (at.as_nanos() / 1_000_000, rate.as_bps() / 1_000_000))
            .collect();
        assert_eq!(steps, [(2, 20), (4, 10), (5, 20)]);
        assert_eq!(trace.steps(Time::ZERO, Time::ZERO).count(), 0);
        let constant = Schedule::constant(Rate::from_kbps(10));
        assert_eq!(constant.steps(Time::ZERO, Time::MAX).count(), 1);
    }

    #[test]
    fn a_short_round_is_passed_over_in_one_step() {
        // 1 bit/s for one nanosecond in every two: 9600 bits take 19,200 s.
        let nano = Piece {
            at: TimeDelta::from_nanos(1),
            ..piece(0, 0)
        };
        let slow = Piece {
            rate: Rate::from_bps(1),
            ..piece(0, 0)
        };
        let schedule = Schedule::new(vec![slow, nano], Some(TimeDelta::from_nanos(2))).unwrap();
        let finish = finish_ms(&schedule, 0, 1200).unwrap();
        assert!((finish - 19_200e3).abs() < 1e-3, "{finish}");
        let hour = Time::from_secs(3600);
        assert_eq!(schedule.capacity(Time::ZERO, hour), Bytes::new(225));
        let mut cursor = schedule.cursor();
        assert!(cursor.seek(hour));
        assert_eq!(cursor.piece().rate, Rate::from_bps(1));
    }

    #[test]
    fn pieces_that_do_not_fit_together_are_refused() {
        assert!(Schedule::new(vec![], None).is_none());
        assert!(Schedule::new(vec![piece(1, 1)], None).is_none());
        assert!(Schedule::new(vec![piece(0, 1), piece(0, 2)], None).is_none());
        assert!(
            Schedule::new(
                vec![piece(0, 1), piece(5, 2)],
                Some(TimeDelta::from_millis(5))
            )
            .is_none()
        );
    }
}
