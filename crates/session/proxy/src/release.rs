//! When the next packets may leave the queue, and how many.
//!
//! *Source:* our own, for encoders that cannot be told the size of each frame. The controller is
//! asked for a limit as if a frame were due, and what waits leaves within it. In the long run the
//! target's rate is kept by the virtual scheduling of ITU-T I.371: what has left moves the time at
//! which the target would have carried it, and the next packets leave when that time is at most
//! [`slack`](crate::NearConfig::slack) of a frame interval ahead.

use mimosa_facts::FrameGrant;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The pace of releases.
#[derive(Debug, Default)]
pub(crate) struct Release {
    /// When the target would have carried everything that has left.
    carried: Time,
    /// The earliest time of the next release.
    next: Time,
}

impl Release {
    /// The earliest time of the next release.
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// The bytes that may leave by this grant; `None` if the controller skips a frame, so that
    /// nothing leaves for an interval.
    pub(crate) fn room(
        &mut self,
        now: Time,
        grant: &FrameGrant,
        interval: TimeDelta,
        tolerance: f64,
    ) -> Option<Bytes> {
        if grant.size == Bytes::ZERO {
            self.next = now + interval;
            return None;
        }
        Some(grant.size.scale(tolerance))
    }

    /// Notes that `size` has left at `now`; `slack` is a time.
    pub(crate) fn left(&mut self, now: Time, size: Bytes, target: Rate, slack: TimeDelta) {
        self.carried = self.carried.max(now) + target.transmit_time(size);
        self.next = self.carried - slack;
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{Cause, FrameId};

    use super::*;

    fn grant(size: u64) -> FrameGrant {
        FrameGrant {
            frame: FrameId(0),
            target: Rate::from_kbps(8_000),
            size: Bytes::new(size),
            is_limit: false,
            is_capped: false,
            cause: Cause::Start,
        }
    }

    #[test]
    fn what_is_too_much_at_once_waits_and_what_is_little_does_not() {
        let ms = TimeDelta::from_millis;
        let mut release = Release::default();
        let now = Time::from_secs(1);
        assert_eq!(release.room(now, &grant(0), ms(10), 1.5), None);
        assert_eq!(release.next(), now + ms(10));
        assert_eq!(
            release.room(now, &grant(1_000), ms(10), 1.5),
            Some(Bytes::new(1_500))
        );
        // A byte takes a microsecond.
        let target = grant(0).target;
        release.left(now, Bytes::new(5_000), target, ms(5));
        assert_eq!(release.next(), now);
        release.left(now, Bytes::new(20_000), target, ms(5));
        assert_eq!(release.next(), now + ms(20));
        // Nothing is saved up.
        let later = now + ms(1_000);
        release.left(later, Bytes::new(7_000), target, ms(5));
        assert_eq!(release.next(), later + ms(2));
    }
}
