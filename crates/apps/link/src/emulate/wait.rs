//! Waiting and lateness of threads that act at given times.

use std::fmt;
use std::os::fd::BorrowedFd;

use mimosa_net::DelayCount;
use mimosa_system::clock::Clock;
use mimosa_units::{Time, TimeDelta, nearest_rank};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The last part of each wait, which is spent in a loop on the clock, as in the link's threads.
const SPIN: TimeDelta = TimeDelta::from_micros(50);
/// Longest sleep, after which the end of the run is noticed.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(50);
/// What a thread waits for beside the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Readiness<'a> {
    Readable(BorrowedFd<'a>),
    Writable(BorrowedFd<'a>),
    Nothing,
}

/// Waits for `deadline`, and returns when it has come at the latest. Returns earlier if there is
/// something to do, and possibly without a reason.
pub(crate) fn towards(clock: Clock, deadline: Time, readiness: Readiness<'_>) {
    let rest = deadline.since(clock.now()).min(LONGEST_SLEEP);
    let sleep = rest - SPIN;
    if sleep <= TimeDelta::ZERO {
        std::hint::spin_loop();
        return;
    }
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: sleep.as_nanos(),
    };
    // An interruption counts as a wake-up.
    let _ = match &readiness {
        Readiness::Readable(fd) => poll(&mut [PollFd::new(fd, PollFlags::IN)], Some(&timeout)),
        Readiness::Writable(fd) => poll(&mut [PollFd::new(fd, PollFlags::OUT)], Some(&timeout)),
        Readiness::Nothing => poll(&mut [], Some(&timeout)),
    };
}

/// Percentiles of a lateness; all zero without values.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Spread {
    /// The median.
    pub p50: TimeDelta,
    /// The 99th percentile.
    pub p99: TimeDelta,
    /// The 99.9th percentile.
    pub p999: TimeDelta,
    /// The greatest value.
    pub most: TimeDelta,
}

impl Spread {
    /// The percentiles of `values`, by nearest rank.
    #[must_use]
    pub fn of(mut values: Vec<TimeDelta>) -> Self {
        values.sort_unstable();
        let at = |share| nearest_rank(&values, share).unwrap_or(TimeDelta::ZERO);
        Self {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            most: at(1.0),
        }
    }
}

impl From<&DelayCount> for Spread {
    fn from(lateness: &DelayCount) -> Self {
        let at = |share| lateness.at(share).unwrap_or(TimeDelta::ZERO);
        Self {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
            most: at(1.0),
        }
    }
}

/// The four values in microseconds, with slashes between them.
impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = |time: TimeDelta| time.as_nanos() / 1_000;
        let (p50, p99) = (micros(self.p50), micros(self.p99));
        let (p999, most) = (micros(self.p999), micros(self.most));
        write!(f, "{p50}/{p99}/{p999}/{most}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let us = TimeDelta::from_micros;
        let spread = Spread::of((1..=1_000).rev().map(us).collect());
        assert_eq!(
            (spread.p50, spread.p99, spread.p999, spread.most),
            (us(500), us(990), us(999), us(1_000))
        );
        assert_eq!(Spread::of(vec![us(7)]).p50, us(7));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
        assert_eq!(spread.to_string(), "500/990/999/1000");
    }
}
