//! The clock, and how to wait for it.

use std::num::NonZeroU64;
use std::time::{Duration, Instant, SystemTime};

use mimosa_units::{Time, TimeDelta};

/// Counts from its start.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    begun: SystemTime,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "the emulator's only reading of the clocks, with `now`"
    )]
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            begun: SystemTime::now(),
        }
    }

    /// When it started, in nanoseconds since 1970, by the system's clock at that time.
    #[must_use]
    pub fn begun_unix_nanos(self) -> i64 {
        let since = self.begun.duration_since(SystemTime::UNIX_EPOCH);
        since.map_or(0, |since| nanos(since).cast_signed())
    }

    /// Now.
    #[must_use]
    pub fn now(self) -> Time {
        Time::from_nanos(nanos(self.start.elapsed()))
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Lets the calling thread sleep as exactly as the system can: by default it adds up
/// to 50 us to each sleep.
pub(crate) fn sleep_exactly() {
    // A system without the call has no slack either.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
}

/// The part of `rest` that is slept, when the last `spun` of it is not.
pub(crate) fn slept(rest: TimeDelta, spun: TimeDelta) -> Option<TimeDelta> {
    let sleep = rest - spun;
    (sleep > TimeDelta::ZERO).then_some(sleep)
}
