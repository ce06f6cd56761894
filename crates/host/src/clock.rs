//! The one clock of the host.

use std::time::{Duration, Instant};

use mimosa_units::Time;

/// Counts from the host's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub(crate) fn start() -> Self {
        Self { start: instant() }
    }

    /// Now.
    pub(crate) fn now(self) -> Time {
        self.at(instant())
    }

    /// What it shows now, as the standard library has it.
    pub(crate) fn since_start(self) -> Duration {
        instant().saturating_duration_since(self.start)
    }

    /// What this clock showed at `instant`; zero before its start.
    pub(crate) fn at(self, instant: Instant) -> Time {
        let since = instant.saturating_duration_since(self.start);
        Time::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// When this clock shows `time`; a century on at the latest.
    pub(crate) fn instant(self, time: Time) -> Instant {
        const CENTURY: Duration = Duration::from_hours(100 * 365 * 24);
        self.start + Duration::from_nanos(time.as_nanos()).min(CENTURY)
    }
}

/// Now, for those who want it as the standard library has it.
#[expect(
    clippy::disallowed_methods,
    reason = "the host's only reading of the clock"
)]
pub(crate) fn instant() -> Instant {
    Instant::now()
}
