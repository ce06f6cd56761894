//! A link's rate over time, and when a packet is through it.

use std::sync::Arc;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Work is counted in bits times the nanoseconds of a second: exactly.
const WORK_PER_BIT: u128 = 1_000_000_000;

/// A link's properties from one point on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// When it begins.
    pub at: TimeDelta,
    /// The rate.
    pub rate: Rate,
    /// One-way propagation, where it changes too.
    pub delay: Option<TimeDelta>,
    /// Share of packets lost, where it changes too.
    pub loss: Option<f64>,
}

/// The work that a packet of `size` makes.
pub(crate) fn work_of(size: Bytes) -> u128 {
    u128::from(size.bits()) * WORK_PER_BIT
}

/// Piecewise constant properties, perhaps repeating.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pieces: Arc<[Piece]>,
    /// After this it begins again; `None`: the last piece lasts.
    period: Option<TimeDelta>,
}

impl Schedule {
    /// The same rate for ever.
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

    /// These pieces, which must be in order, begin at zero and, if `period` is
    /// given, end before it; `None` otherwise.
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

    /// A cursor at the beginning.
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

    /// The rate from `from` on, then each change of it before `until`.
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

    /// What passes between `from` and `to` at most.
    #[must_use]
    pub fn capacity(&self, from: Time, to: Time) -> Bytes {
        let before = self.work_until(from);
        let bits = self.work_until(to.max(from)).saturating_sub(before) / WORK_PER_BIT;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }

    /// Work done from the beginning to `at`.
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

    /// Work done in the first `nanos` nanoseconds of a round.
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

    /// Work done in a whole round; zero for a schedule that does not repeat.
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

    /// Moves to the piece that holds at `now`; says whether it is another.
    pub(crate) fn seek(&mut self, now: Time) -> bool {
        let mut moved = false;
        if now >= self.ends
            && let Some(period) = self.schedule.period
        {
            let rounds = now.since(self.round).as_nanos() / period.as_nanos().max(1);
            if rounds > 1 {
                // At the last piece of the round before the one that holds.
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

    /// When a packet of `size` that begins at `start` is through; `None` for
    /// never. Leaves the cursor where the packet ends.
    pub(crate) fn finish(&mut self, start: Time, size: Bytes) -> Option<Time> {
        self.seek(start);
        let rate = self.piece().rate;
        let whole = start + rate.transmit_time(size);
        if whole <= self.ends && rate > Rate::ZERO {
            return Some(whole);
        }
        self.finish_across(start, size)
    }

    /// The same for a packet that begins in one piece and ends in another.
    #[cold]
    fn finish_across(&mut self, start: Time, size: Bytes) -> Option<Time> {
        self.finish_work(start, work_of(size))
    }

    /// The same for what is left of a packet, as work.
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

    /// Passes over the whole rounds, from the beginning of one, that leave work
    /// undone; `None` when no round ever does any.
    fn skip_rounds(&mut self, at: Time, left: &mut u128) -> Option<Time> {
        let Some(period) = self.schedule.period else {
            return Some(at);
        };
        let per_round = self.schedule.work_per_round();
        // The last round is gone through piece by piece.
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
        // Half of it before the change, half after.
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
