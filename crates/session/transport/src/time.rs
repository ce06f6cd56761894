//! Converts between str0m's `Instant` and [`Time`].

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use mimosa_units::Time;

/// The latest time that can be represented: a century.
const LATEST: Duration = Duration::from_hours(100 * 365 * 24);

/// How far time zero is ahead of the system's clock, longer than any simulation takes.
///
/// str0m looks at differences of the times that it is given, with one exception: SCTP starts the timer
/// of its first message by the system's clock (sctp-proto, `Endpoint::connect`). Whether that timer had
/// expired in virtual time would depend on how long the program has run. With the system's clock a day
/// behind, the timer has always expired: SCTP sends its first message twice, and times all others by
/// what it is given. Sender reports carry a wall clock that is a day ahead, which receivers compare
/// with itself alone.
const AHEAD: Duration = Duration::from_hours(24);

/// The instant of time zero.
fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` cannot be made otherwise; it is read once and stands for zero"
    )]
    *EPOCH.get_or_init(|| Instant::now() + AHEAD)
}

/// The instant of `time`, at most a century after the epoch.
pub(crate) fn instant(time: Time) -> Instant {
    epoch() + Duration::from_nanos(time.as_nanos()).min(LATEST)
}

/// The time of `instant`, rounded to whole nanoseconds; zero before the epoch.
pub(crate) fn time(instant: Instant) -> Time {
    let since = instant.saturating_duration_since(epoch());
    Time::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_went() {
        for nanos in [0, 1, 1_000_000_007, 86_400_000_000_000] {
            let at = Time::from_nanos(nanos);
            assert_eq!(time(instant(at)), at);
        }
        assert!(time(instant(Time::MAX)) < Time::MAX, "bounded");
    }
}
