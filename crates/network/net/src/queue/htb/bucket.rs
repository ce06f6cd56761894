//! The two token buckets of a class, and the three modes that follow from them.
//!
//! M. Devera, "Hierarchical token bucket theory" (2002), calls the modes green,
//! yellow and red; the names here are Linux's.
//!
//! *Deviations.* Linux counts tokens in nanoseconds of sending; here they are
//! exact, as in [`TokenBucket`](crate::queue::TokenBucket). Modes change where a
//! bucket is at zero: Linux's optional hysteresis, which is off by default, is
//! missing.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::queue::token_bucket::Bucket;

/// The most that a bucket can be overdrawn: the tokens that come in within a
/// minute (`mbuffer` of Linux's `sch_htb`).
const DEBT: TimeDelta = TimeDelta::from_millis(60_000);

/// The mode of a class: whether it may send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Mode {
    /// The class is below its rate (green): it may send and lend.
    CanSend,
    /// The class is between its rate and its ceiling (yellow): it may borrow.
    MayBorrow,
    /// The class is above its ceiling (red): it may do neither.
    CantSend,
}

/// The two buckets of a class.
#[derive(Debug)]
pub(super) struct Buckets {
    /// The bucket at the class's rate, for what the class may send without borrowing.
    rate: Bucket,
    /// The bucket at the class's ceiling, for all that the class may send.
    ceil: Bucket,
}

impl Buckets {
    /// Full buckets of a class: the first at its rate with its burst, the second
    /// at its ceiling with its burst there.
    pub(super) fn new((rate, burst): (Rate, Bytes), (ceil, cburst): (Rate, Bytes)) -> Self {
        Self {
            rate: Bucket::full(rate, burst, DEBT),
            ceil: Bucket::full(ceil, cburst, DEBT),
        }
    }

    /// The mode of the class at `now`.
    pub(super) fn mode(&self, now: Time) -> Mode {
        if !self.ceil.has(now, Bytes::ZERO) {
            Mode::CantSend
        } else if self.rate.has(now, Bytes::ZERO) {
            Mode::CanSend
        } else {
            Mode::MayBorrow
        }
    }

    /// When the class is in mode [`Mode::CanSend`], if nothing is charged before.
    pub(super) fn can_send(&self) -> Time {
        self.rate.when(Bytes::ZERO).max(self.may_borrow())
    }

    /// When the class is no longer in mode [`Mode::CantSend`], if nothing is charged before.
    pub(super) fn may_borrow(&self) -> Time {
        self.ceil.when(Bytes::ZERO)
    }

    /// Charges a packet to the ceiling, and to the rate too unless the class has
    /// `borrowed` for it.
    pub(super) fn charge(&mut self, now: Time, size: Bytes, borrowed: bool) {
        if !borrowed {
            self.rate.spend(now, size);
        }
        self.ceil.spend(now, size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buckets at 1000 and 2000 bytes a millisecond, each with a burst of one packet of 1000 bytes.
    fn buckets() -> Buckets {
        let packet = Bytes::new(1_000);
        let kbps = Rate::from_kbps;
        Buckets::new((kbps(8_000), packet), (kbps(16_000), packet))
    }

    #[test]
    fn modes_change_when_they_say() {
        let mut class = buckets();
        let packet = Bytes::new(1_000);
        assert_eq!(class.mode(Time::ZERO), Mode::CanSend);
        class.charge(Time::ZERO, packet, false);
        assert_eq!(
            class.mode(Time::ZERO),
            Mode::CanSend,
            "zero is not below zero"
        );
        class.charge(Time::ZERO, packet, false);
        assert_eq!(class.mode(Time::ZERO), Mode::CantSend);
        let nano = TimeDelta::from_nanos(1);
        for (at, before, from) in [
            (class.may_borrow(), Mode::CantSend, Mode::MayBorrow),
            (class.can_send(), Mode::MayBorrow, Mode::CanSend),
        ] {
            assert_eq!(class.mode(at - nano), before);
            assert_eq!(class.mode(at), from);
        }
        assert_eq!(class.may_borrow(), Time::from_nanos(500_000));
        assert_eq!(class.can_send(), Time::from_millis(1));
    }

    #[test]
    fn who_borrows_pays_with_the_ceiling_alone() {
        let mut class = buckets();
        let packet = Bytes::new(1_000);
        for _ in 0..2 {
            class.charge(Time::ZERO, packet, true);
        }
        assert_eq!(class.mode(Time::ZERO), Mode::CantSend);
        assert_eq!(class.can_send(), Time::from_nanos(500_000));
    }

    #[test]
    fn nobody_owes_more_than_a_minute() {
        let mut class = buckets();
        for _ in 0..1_000 {
            class.charge(Time::ZERO, Bytes::new(10_000_000), false);
        }
        assert_eq!(class.can_send(), Time::from_secs(60));
    }
}
