//! The application that writes to a TCP connection.

use std::sync::Arc;

use mimosa_units::{Bytes, Rate, Time};

/// A model of the application that writes to the connection.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Application {
    /// An application that always has more to send: a bulk transfer.
    #[default]
    Greedy,
    /// An application that has this much to send, all at once: a short flow.
    Finite(Bytes),
    /// An application that writes payload at this rate without end.
    Limited(Rate),
    /// An application that writes payload without end, at a rate that changes.
    Stepped(Steps),
}

/// The rates at which an application writes, one after another.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Steps(Arc<[Step]>);

/// From `at` on, the application writes at `rate`; before, it wrote `written`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Step {
    at: Time,
    rate: Rate,
    written: Bytes,
}

impl Steps {
    /// An application that starts at `start` and writes at the rate of each of `steps` from its time
    /// on. What is before the start counts from the start on; a step that is not after the one before
    /// takes its place.
    #[must_use]
    pub fn new(start: Time, steps: impl IntoIterator<Item = (Time, Rate)>) -> Self {
        let mut all: Vec<Step> = Vec::new();
        for (at, rate) in steps {
            let at = at.max(start);
            let before = all.pop();
            let written = before.map_or(Bytes::ZERO, |step| {
                step.written + step.rate.amount_in(at.since(step.at))
            });
            all.extend(before.filter(|step| step.at < at));
            all.push(Step { at, rate, written });
        }
        Self(all.into())
    }

    /// What the application has written by `now`.
    fn written(&self, now: Time) -> Bytes {
        let newest = self.0.iter().rev().find(|step| step.at <= now);
        newest.map_or(Bytes::ZERO, |step| {
            step.written + step.rate.amount_in(now.since(step.at))
        })
    }

    /// When the application has written `all`; `None` for never.
    fn when(&self, all: Bytes) -> Option<Time> {
        // The step in which it writes the last of them, or the last step.
        let step = self.0.iter().rev().find(|step| step.written < all)?;
        (step.rate > Rate::ZERO).then(|| step.at + step.rate.transmit_time(all - step.written))
    }
}

impl Application {
    /// What an application that started at `start` has written by `now`, to the byte.
    fn so_far(&self, now: Time, start: Time) -> Bytes {
        match self {
            Self::Greedy => Bytes::MAX,
            Self::Finite(size) => *size,
            Self::Limited(rate) => rate.amount_in(now.since(start)),
            Self::Stepped(steps) => steps.written(now),
        }
    }

    /// What an application that started at `start` has written by `now`: whole segments of `mss`, and
    /// all that a finite transfer has.
    #[must_use]
    pub fn written(&self, now: Time, start: Time, mss: Bytes) -> Bytes {
        let all = self.so_far(now, start);
        match self {
            Self::Greedy | Self::Finite(_) => all,
            Self::Limited(_) | Self::Stepped(_) => {
                Bytes::new(all.get() / mss.get().max(1) * mss.get())
            }
        }
    }

    /// Length of the segment that begins at `sequence`, if it can be sent at `now` and the
    /// application started at `start`; `None` otherwise. Every segment is full except the last of a
    /// finite transfer.
    pub(crate) fn segment(
        &self,
        now: Time,
        start: Time,
        sequence: u64,
        mss: Bytes,
    ) -> Option<Bytes> {
        if now < start {
            return None;
        }
        let left = self.so_far(now, start) - Bytes::new(sequence);
        match self {
            Self::Finite(_) => (left > Bytes::ZERO).then(|| left.min(mss)),
            _ => (left >= mss).then_some(mss),
        }
    }

    /// When a segment that begins at `sequence` can be sent by an application that started at `start`;
    /// `None` for never.
    #[must_use]
    pub fn ready_at(&self, start: Time, sequence: u64, mss: Bytes) -> Option<Time> {
        let end = Bytes::new(sequence) + mss;
        match self {
            Self::Greedy => Some(start),
            Self::Finite(size) => (*size > Bytes::new(sequence)).then_some(start),
            Self::Limited(rate) if *rate == Rate::ZERO => None,
            Self::Limited(rate) => Some(start + rate.transmit_time(end)),
            Self::Stepped(steps) => steps.when(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// 8 Mbit/s, which is 1 kB a millisecond, from 1 s on, nothing from 1.1 s, and half from 2 s.
    fn steps() -> Application {
        let rates = [(0, 8.0), (1_100, 0.0), (2_000, 4.0)];
        let steps = rates.map(|(ms, mbps)| (at(ms), Rate::from_mbps(mbps)));
        Application::Stepped(Steps::new(at(1_000), steps))
    }

    #[test]
    fn it_writes_at_the_rate_of_each_step() {
        let has = |ms: u64, sequence: u64| {
            let segment = steps().segment(at(ms), at(1_000), sequence, MSS);
            segment.is_some()
        };
        assert!(!has(999, 0) && !has(1_000, 0) && has(1_001, 0));
        assert!(has(1_100, 99_000) && !has(1_999, 100_000));
        assert!(!has(2_001, 100_000) && has(2_002, 100_000));
    }

    #[test]
    fn a_segment_is_ready_when_it_is_written() {
        let ready = |sequence: u64| steps().ready_at(at(1_000), sequence, MSS);
        assert_eq!(ready(0), Some(at(1_001)));
        assert_eq!(ready(99_000), Some(at(1_100)));
        // The application was silent between.
        assert_eq!(ready(100_000), Some(at(2_002)));
        for sequence in (0..200_000).step_by(777) {
            let when = ready(sequence).unwrap();
            let has = |now| steps().segment(now, at(1_000), sequence, MSS).is_some();
            let before = Time::from_nanos(when.as_nanos() - 3_000);
            assert!(has(when) && !has(before), "{sequence}");
        }
    }

    #[test]
    fn silence_at_the_end_is_never_over() {
        let rates = [(at(0), Rate::from_mbps(8.0)), (at(10), Rate::ZERO)];
        let application = Application::Stepped(Steps::new(at(0), rates));
        assert_eq!(application.ready_at(at(0), 9_000, MSS), Some(at(10)));
        assert_eq!(application.ready_at(at(0), 9_001, MSS), None);
        let none = Application::Stepped(Steps::new(at(0), []));
        assert_eq!(none.ready_at(at(0), 0, MSS), None);
        assert_eq!(none.segment(at(99), at(0), 0, MSS), None);
    }
}
