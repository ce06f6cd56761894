//! The clock that drivers read, and how they wait.

use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mimosa_units::{Time, TimeDelta};

/// The longest that a datagram is assumed to wait in a socket. Our choice: an older stamp
/// comes from a system clock that was set in between.
const MOST_AGO: Duration = Duration::from_millis(500);
/// The farthest that [`Clock::instant`] goes: a sum beyond it may not exist on the system.
const CENTURY: Duration = Duration::from_hours(100 * 365 * 24);

/// How long the calling thread has had a processor since its start.
#[must_use]
pub fn processor_time() -> TimeDelta {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    TimeDelta::from_nanos(time.tv_sec.saturating_mul(1_000_000_000) + time.tv_nsec)
}

/// A clock that counts [`Time`] from its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    begun: SystemTime,
}

impl Clock {
    /// A clock that starts at this moment.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
    pub fn start() -> Self {
        Self {
            start: now(),
            begun: SystemTime::now(),
        }
    }

    /// The time on this clock.
    #[must_use]
    pub fn now(self) -> Time {
        self.at(now())
    }

    /// The time on this clock, as the standard library counts.
    #[must_use]
    pub fn since_start(self) -> Duration {
        now().saturating_duration_since(self.start)
    }

    /// The time on this clock at `instant`; zero before its start.
    #[must_use]
    pub fn at(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.start);
        Time::from_nanos(nanos(since))
    }

    /// The instant at which this clock shows `time`; a century after its start at the latest.
    #[must_use]
    pub fn instant(self, time: Time) -> Instant {
        self.start + Duration::from_nanos(time.as_nanos()).min(CENTURY)
    }

    /// The start of this clock in nanoseconds since 1970, by the system's clock at the start.
    #[must_use]
    pub fn begun_unix_nanos(self) -> i64 {
        let since = self.begun.duration_since(UNIX_EPOCH);
        since.map_or(0, |since| nanos(since).cast_signed())
    }

    /// The time on this clock when the system's clock, which stamps datagrams, showed
    /// `stamp` after 1970. The result is not after this moment, and not more than half a
    /// second before it: a system clock that is set in between makes one datagram's time
    /// wrong by at most that.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
    pub fn stamped(self, stamp: Duration) -> Time {
        let system = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let now = self.now();
        let ago = system.saturating_sub(stamp).min(MOST_AGO);
        let ago = TimeDelta::from_nanos(nanos(ago).cast_signed());
        if now.since(Time::ZERO) > ago {
            now - ago
        } else {
            Time::ZERO
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The instant at which the system's monotonic clock, by which other programs stamp what they tell, showed
/// `stamp`. A stamp that is not of the last half second is of another machine's clock: this moment stands
/// in for it.
#[must_use]
pub fn monotonic(stamp: Duration) -> Instant {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let now = now();
    let system = Duration::try_from(time).unwrap_or_default();
    let ago = system.checked_sub(stamp).filter(|ago| *ago <= MOST_AGO);
    ago.and_then(|ago| now.checked_sub(ago)).unwrap_or(now)
}

/// This moment, as the standard library counts.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
pub fn now() -> Instant {
    Instant::now()
}

/// The system's date, which whoever runs the system may set at any time.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
pub fn date() -> SystemTime {
    SystemTime::now()
}

/// Lets `time` pass.
#[expect(clippy::disallowed_methods, reason = "a driver waits")]
pub fn wait(time: Duration) {
    thread::sleep(time);
}

/// Lets the calling thread sleep as exactly as the system can: by default the system adds
/// up to 50 us to each sleep.
pub fn sleep_exactly() {
    // A system without the call adds nothing either.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_instants_are_converted_both_ways() {
        let clock = Clock::start();
        let time = Time::from_nanos(1_234_567_890);
        assert_eq!(clock.at(clock.instant(time)), time);
        assert_eq!(clock.instant(Time::ZERO), clock.start);
        let before = clock.start.checked_sub(Duration::from_secs(1)).unwrap();
        assert_eq!(clock.at(before), Time::ZERO, "before its start");
        let never = clock.instant(Time::from_nanos(u64::MAX));
        assert_eq!(never - clock.start, CENTURY);
    }

    #[test]
    fn time_passes_while_waiting() {
        let clock = Clock::start();
        let (before, since) = (clock.now(), clock.since_start());
        wait(Duration::from_millis(2));
        assert!(clock.now().since(before) >= TimeDelta::from_millis(2));
        assert!(clock.since_start() >= since + Duration::from_millis(2));
    }

    #[test]
    fn stamps_of_the_monotonic_clock_are_instants_and_those_of_other_machines_are_now() {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        let system = Duration::try_from(time).unwrap();
        let before = now();
        let ago = Duration::from_millis(20);
        let instant = monotonic(system.checked_sub(ago).unwrap());
        let off = (instant + ago).saturating_duration_since(before);
        assert!(instant < before && off <= before.elapsed(), "{off:?}");
        for other in [Duration::ZERO, system + Duration::from_secs(9)] {
            assert!(monotonic(other) >= before, "{other:?}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "as the kernel would stamp")]
    fn stamps_are_put_on_the_clock() {
        let start = now().checked_sub(Duration::from_millis(600)).unwrap();
        let clock = Clock {
            start,
            ..Clock::start()
        };
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
