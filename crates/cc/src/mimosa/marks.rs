//! CE marks, counted once a feedback round.
//!
//! What marks say depends on what the packets asked for. A queue of L4S marks packets sent as
//! ECT(1) often and early, and their share is the news: it is smoothed as DCTCP (RFC 8257,
//! section 3.3) and Prague do. A classic queue marks where it would drop: one mark on packets
//! sent as ECT(0) or many are one congestion event (RFC 3168, section 6.1.2), once a round.
//!
//! *Deviations:* packets are counted, not bytes; and the estimate stays at one until the
//! first mark, as Prague's here does, so that rounds before do not wear it away.

use mimosa_units::Ecn;

/// The estimation gain g (RFC 8257, section 4.2: 1/16; RFC 9332 names no other).
const GAIN: f64 = 1.0 / 16.0;
/// The smoothed share before the first mark (RFC 8257, section 3.3).
const INITIAL_SHARE: f64 = 1.0;

/// What the marks of a round say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mark {
    /// On packets sent as ECT(1).
    L4s {
        /// The share that was marked, above 0 to 1, in this round.
        share: f64,
        /// The same, smoothed over rounds.
        smoothed: f64,
    },
    /// On packets sent as ECT(0): one congestion event.
    Classic,
}

/// Packets of a round that were sent with one field.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrived: u32,
    marked: u32,
}

impl Counts {
    const fn add(&mut self, is_marked: bool) {
        self.arrived += 1;
        if is_marked {
            self.marked += 1;
        }
    }
}

/// Counts marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    l4s: Counts,
    classic: Counts,
    smoothed: f64,
    has_seen_one: bool,
}

impl Marks {
    /// None yet.
    pub(super) const fn new() -> Self {
        Self {
            l4s: Counts {
                arrived: 0,
                marked: 0,
            },
            classic: Counts {
                arrived: 0,
                marked: 0,
            },
            smoothed: INITIAL_SHARE,
            has_seen_one: false,
        }
    }

    /// A packet sent as `sent_as` arrived as `reported`. One that no queue would mark so, or
    /// whose field did not come through, does not count.
    pub(super) const fn arrived(&mut self, sent_as: Ecn, reported: Ecn) {
        match (sent_as, reported) {
            (Ecn::Ect1, Ecn::Ect1) => self.l4s.add(false),
            (Ecn::Ect1, Ecn::Ce) => self.l4s.add(true),
            (Ecn::Ect0, Ecn::Ect0) => self.classic.add(false),
            (Ecn::Ect0, Ecn::Ce) => self.classic.add(true),
            _ => {}
        }
    }

    /// The share of marks on packets sent as ECT(1), smoothed over rounds, 0 to 1; `None`
    /// before the first mark.
    pub(super) fn smoothed(&self) -> Option<f64> {
        self.has_seen_one.then_some(self.smoothed)
    }

    /// Ends a round; says what its marks say, if there were any. Of both kinds, which only a
    /// sender that changes its field meets, the classic one counts.
    pub(super) fn round(&mut self) -> Option<Mark> {
        let (l4s, classic) = (self.l4s, self.classic);
        self.l4s = Counts::default();
        self.classic = Counts::default();
        self.has_seen_one |= l4s.marked > 0;
        let mut mark = None;
        if l4s.arrived > 0 && self.has_seen_one {
            let share = f64::from(l4s.marked) / f64::from(l4s.arrived);
            self.smoothed += GAIN * (share - self.smoothed);
            mark = (l4s.marked > 0).then_some(Mark::L4s {
                share,
                smoothed: self.smoothed,
            });
        }
        if classic.marked > 0 {
            Some(Mark::Classic)
        } else {
            mark
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of a hundred packets sent as `sent_as`, of which `marked` are.
    fn round(marks: &mut Marks, sent_as: Ecn, marked: u32) -> Option<Mark> {
        for index in 0..100 {
            let reported = if index < marked { Ecn::Ce } else { sent_as };
            marks.arrived(sent_as, reported);
        }
        marks.round()
    }

    /// 1, then 1 + (s - 1) / 16 and so on, worked out by hand.
    #[test]
    fn the_share_is_smoothed_by_a_sixteenth() {
        let mut marks = Marks::new();
        assert_eq!(round(&mut marks, Ecn::Ect1, 0), None);
        assert_eq!(marks.smoothed(), None);
        let expected = Mark::L4s {
            share: 0.5,
            smoothed: 0.968_75,
        };
        assert_eq!(round(&mut marks, Ecn::Ect1, 50), Some(expected));
        assert_eq!(round(&mut marks, Ecn::Ect1, 0), None);
        assert_eq!(marks.smoothed(), Some(0.968_75 * 0.937_5));
    }

    #[test]
    fn the_share_of_many_rounds_is_theirs() {
        let mut marks = Marks::new();
        for _ in 0..400 {
            round(&mut marks, Ecn::Ect1, 20);
        }
        assert!((marks.smoothed().unwrap_or(0.0) - 0.2).abs() < 1e-6);
        for _ in 0..400 {
            round(&mut marks, Ecn::Ect1, 0);
        }
        assert!(marks.smoothed().unwrap_or(1.0) < 1e-6);
    }

    #[test]
    fn rounds_without_packets_change_nothing() {
        let mut marks = Marks::new();
        round(&mut marks, Ecn::Ect1, 100);
        let before = marks.smoothed();
        assert_eq!(marks.round(), None);
        assert_eq!(marks.smoothed(), before);
    }

    #[test]
    fn many_classic_marks_are_one_event_a_round() {
        for marked in [1, 100] {
            let mut marks = Marks::new();
            assert_eq!(round(&mut marks, Ecn::Ect0, marked), Some(Mark::Classic));
            assert_eq!(round(&mut marks, Ecn::Ect0, 0), None);
            assert_eq!(marks.smoothed(), None, "nothing of L4S");
        }
    }

    #[test]
    fn what_was_not_capable_or_came_otherwise_does_not_count() {
        let mut marks = Marks::new();
        for (sent_as, reported) in [
            (Ecn::NotEct, Ecn::Ce),
            (Ecn::NotEct, Ecn::NotEct),
            (Ecn::Ect1, Ecn::NotEct),
            (Ecn::Ect1, Ecn::Ect0),
            (Ecn::Ect0, Ecn::Ect1),
            (Ecn::Ce, Ecn::Ce),
        ] {
            marks.arrived(sent_as, reported);
        }
        assert_eq!(marks.round(), None);
        assert_eq!(marks.smoothed(), None);
    }

    #[test]
    fn of_both_kinds_the_classic_one_counts() {
        let mut marks = Marks::new();
        marks.arrived(Ecn::Ect1, Ecn::Ce);
        marks.arrived(Ecn::Ect0, Ecn::Ce);
        assert_eq!(marks.round(), Some(Mark::Classic));
        assert_eq!(marks.smoothed(), Some(1.0), "and the other is kept");
    }
}
