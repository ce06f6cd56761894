//! The client's one clock, and the system's beside it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mimosa_units::{Time, TimeDelta};

/// Counts from the client's start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the client's only clock")]
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// The instant of its time zero.
    #[must_use]
    pub const fn beginning(self) -> Instant {
        self.start
    }

    /// Now.
    #[must_use]
    pub fn now(self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// When the system's clock, which stamps datagrams, said `stamp` after 1970: not after
    /// now, and not before `MOST_AGO`. A system clock that is set in between makes one
    /// datagram's time wrong by at most that.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "what stamps are compared with")]
    pub fn stamped(self, stamp: Duration) -> Time {
        let system = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = self.now();
        let ago = system.saturating_sub(stamp).min(MOST_AGO);
        let ago = TimeDelta::from_nanos(i64::try_from(ago.as_nanos()).unwrap_or(0));
        if now.since(Time::ZERO) > ago {
            now - ago
        } else {
            Time::ZERO
        }
    }
}

/// Longest that a datagram waits in a socket.
const MOST_AGO: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "as the kernel would stamp")]
    fn stamps_are_put_on_the_clock() {
        let start = Instant::now()
            .checked_sub(Duration::from_millis(600))
            .unwrap();
        let clock = Clock { start };
        let before = clock.now();
        let system = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let stamped = clock.stamped(system.checked_sub(Duration::from_millis(20)).unwrap());
        let since = stamped + TimeDelta::from_millis(20) - before;
        // However long this thread was kept waiting, time does not go back.
        let passed = clock.now().since(before);
        assert!(
            (TimeDelta::ZERO..=passed).contains(&since),
            "{since:?} of {passed:?}"
        );
        assert!(
            clock.stamped(system + Duration::from_secs(9)) >= before,
            "not after now"
        );
        assert_eq!(
            Clock::start().stamped(Duration::ZERO),
            Time::ZERO,
            "not before"
        );
    }
}
