//! The clock of a video flow's receiver: `clock_offset`, `clock_drift_ppm` and `clock_steps`.

use mimosa_units::{PeerTime, Time, TimeDelta};

use super::parse::{Read, Reader, value};
use super::raw;

/// A receiver's clock, which may be ahead or behind, run too fast or too slow, and be set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerClock {
    /// How far the clock is ahead at first; negative if it is behind.
    pub offset: TimeDelta,
    /// How much faster the clock runs than the simulation's, in parts per billion;
    /// negative if it is slower.
    pub drift_ppb: i64,
    /// The steps of the clock, in order: when it is set, and by how much, positive for forward.
    pub steps: Vec<(Time, TimeDelta)>,
}

impl PeerClock {
    /// The time that the clock shows at `now`.
    #[must_use]
    pub fn at(&self, now: Time) -> PeerTime {
        let nanos = now.as_nanos().cast_signed();
        let drift = if self.drift_ppb == 0 {
            0
        } else {
            let drift = i128::from(nanos) * i128::from(self.drift_ppb) / 1_000_000_000;
            i64::try_from(drift).unwrap_or(0)
        };
        let mut shown = PeerTime::from_nanos(nanos.saturating_add(drift)) + self.offset;
        for (_, by) in self.steps.iter().take_while(|(at, _)| *at <= now) {
            shown = shown + *by;
        }
        shown
    }

    /// When the clock came to show `due`. At `now` it must show `due` or later. If a step
    /// jumped over `due`, the result is the time of that step.
    #[must_use]
    pub fn reached(&self, due: PeerTime, now: Time) -> Time {
        let (mut until, mut shown) = (now, self.at(now));
        let before = self.steps.iter().rev().filter(|(at, _)| *at <= now);
        for (at, by) in before {
            let moment = until - (shown - due);
            if moment >= *at {
                return moment;
            }
            let unset = self.at(*at) + -*by;
            if unset < due {
                return *at;
            }
            (until, shown) = (*at, unset);
        }
        until - (shown - due)
    }

    /// The time of the next step after `now`; [`Time::MAX`] for none.
    #[must_use]
    pub fn next_step(&self, now: Time) -> Time {
        let mut later = self.steps.iter().filter(|(at, _)| *at > now);
        later.next().map_or(Time::MAX, |(at, _)| *at)
    }
}

impl Reader<'_> {
    /// Reads the clock of a flow's receiver.
    pub(super) fn clock(&self, raw: &raw::Flow) -> Read<PeerClock> {
        let mut steps = Vec::new();
        if let Some(list) = &raw.clock_steps {
            let mut before = TimeDelta::ZERO;
            for step in list.get_ref() {
                let by = match (step.forward, step.back) {
                    (Some(by), None) => Some(by),
                    (None, Some(by)) => Some(-by),
                    (None, None) | (Some(_), Some(_)) => None,
                };
                let by = by.filter(|_| step.at >= before);
                let must = "in order of `at`, each with either `forward` or `back`";
                self.range(list.span(), "clock_steps", by.is_some(), must)?;
                before = step.at;
                steps.extend(by.map(|by| (Time::ZERO + step.at, by)));
            }
        }
        Ok(PeerClock {
            offset: value(raw.clock_offset.as_ref(), TimeDelta::ZERO),
            drift_ppb: self.drift(raw)?,
            steps,
        })
    }

    fn drift(&self, raw: &raw::Flow) -> Read<i64> {
        let Some(drift) = &raw.clock_drift_ppm else {
            return Ok(0);
        };
        let ppm = *drift.get_ref();
        let must = "between -1000 and 1000 parts per million";
        self.range(drift.span(), "clock_drift_ppm", ppm.abs() <= 1000.0, must)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
        Ok((ppm * 1e3).round() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(by: i64) -> PeerClock {
        PeerClock {
            steps: vec![(Time::from_millis(1_000), TimeDelta::from_millis(by))],
            ..PeerClock::default()
        }
    }

    fn shows(millis: i64) -> PeerTime {
        PeerTime::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_step_sets_it_from_then_on() {
        for by in [-50, 50] {
            let clock = clock(by);
            assert_eq!(clock.at(Time::from_millis(999)), shows(999));
            assert_eq!(clock.at(Time::from_millis(1_000)), shows(1_000 + by));
            assert_eq!(clock.at(Time::from_millis(2_000)), shows(2_000 + by));
        }
    }

    #[test]
    fn what_was_due_is_found_on_both_sides_of_a_step() {
        let (now, at) = (Time::from_millis(1_100), Time::from_millis);
        let forward = clock(50);
        // The times are one after the step, one that the step jumps over, and one before it.
        assert_eq!(forward.reached(shows(1_100), now), at(1_050));
        assert_eq!(forward.reached(shows(1_020), now), at(1_000));
        assert_eq!(forward.reached(shows(980), now), at(980));
        let back = clock(-50);
        assert_eq!(back.reached(shows(1_040), now), at(1_090));
        assert_eq!(clock(0).reached(shows(500), now), at(500));
        assert_eq!(forward.next_step(at(999)), at(1_000));
        assert_eq!(forward.next_step(at(1_000)), Time::MAX);
    }
}
