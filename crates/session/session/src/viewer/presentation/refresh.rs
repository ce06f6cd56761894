//! Estimates when a display refreshes, from the refreshes that were observed.
//!
//! # Model
//!
//! Refresh number `n` comes at `phase + n * interval`. The interval is learnt as the median of the first
//! gaps between observations, and then refined over all of them: a gap of two or three intervals is an
//! observation that was missed, and counts as so many. From then on, each observation moves the phase by
//! a share of its error and the interval by a smaller share, as the alpha-beta filter does.
//!
//! A display without a fixed interval (one that refreshes when a picture comes, or that is switched off)
//! has observations that fit no multiple of an interval. Where too many do not fit, or none came for a
//! while, the refresh is unknown, and learning begins again.
//!
//! # Sources
//!
//! R. Penoyer, "The Alpha-Beta Filter", C Users Journal 11 (7), 1993: the filter. X.Org's `presentproto`,
//! version 1.2: `PresentCompleteNotify` tells a refresh's number and time (`msc`, `ust`), which are the
//! observations of the native client.
//!
//! # Deviations
//!
//! The number of a refresh is not used, so that sources without numbers can be observed as well.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

/// Gaps between observations from which the interval is learnt: a quarter of a second at 60 Hz.
const LEARNT_FROM: usize = 16;
/// Share of an interval by which an observation may be off and still fit. A wake-up of a thread that is
/// late by 1 ms fits at 60 Hz; half an interval would say nothing.
const FITS: f64 = 0.125;
/// Share of the error by which an observation moves the phase: it averages some eight observations.
const PHASE_GAIN: f64 = 0.125;
/// Share of the error by which an observation moves the interval. A filter is critically damped where
/// this is `PHASE_GAIN` squared over four; it is half of that, since quartz keeps its rate.
const INTERVAL_GAIN: f64 = 0.002;
/// Newest observations that are judged, and how many of them may not fit.
const JUDGED: u32 = 32;
const MOST_MISFITS: u32 = 8;
/// Time after which an interval that was not observed again is unknown. A quartz that is off by 100 ppm
/// is off by 0.1 ms then.
const LOST_AFTER: TimeDelta = TimeDelta::from_millis(1_000);
/// The shortest and longest interval that a display is believed to have: 500 Hz and 20 Hz.
const SHORTEST: TimeDelta = TimeDelta::from_millis(2);
const LONGEST: TimeDelta = TimeDelta::from_millis(50);

/// Learns the interval and the phase of a display's refresh.
#[derive(Clone, Debug, Default)]
pub struct RefreshClock {
    /// Gaps between observations, while the interval is being learnt.
    gaps: VecDeque<TimeDelta>,
    /// Time between refreshes in nanoseconds, once it is learnt.
    interval: Option<f64>,
    /// The newest refresh that was observed, as the filter has it.
    phase: Time,
    /// When the newest observation was, whether it fits or not.
    observed: Option<Time>,
    /// A bit for each judged observation, the newest lowest: set where it does not fit.
    misfits: u32,
}

impl RefreshClock {
    /// Notes that the display refreshed at `at`. Refreshes come in order; any of them may be left out.
    pub fn refreshed(&mut self, at: Time) {
        let Some(before) = self.observed.replace(at) else {
            return;
        };
        let gap = at - before;
        if gap <= TimeDelta::ZERO {
            self.observed = Some(before);
            return;
        }
        if gap > LOST_AFTER {
            self.forget();
        } else if let Some(interval) = self.interval {
            self.follow(at, interval);
        } else {
            self.learn(at, gap);
        }
    }

    fn learn(&mut self, at: Time, gap: TimeDelta) {
        self.gaps.push_back(gap);
        if self.gaps.len() < LEARNT_FROM {
            return;
        }
        let mut sorted: Vec<_> = self.gaps.iter().copied().collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        let guess = nanos(median);
        let multiple = |gap: TimeDelta| (nanos(gap) / guess).round().max(1.0);
        let misfits = self.gaps.iter().filter(|gap| {
            let times = multiple(**gap);
            (nanos(**gap) - times * guess).abs() > FITS * guess
        });
        let is_regular = misfits.count() * 4 <= self.gaps.len();
        if is_regular && (SHORTEST..=LONGEST).contains(&median) {
            let refreshes: f64 = self.gaps.iter().copied().map(multiple).sum();
            let whole: f64 = self.gaps.iter().copied().map(nanos).sum();
            self.interval = Some(whole / refreshes);
            self.phase = at;
            self.misfits = 0;
            self.gaps.clear();
        } else {
            self.gaps.pop_front();
        }
    }

    fn follow(&mut self, at: Time, interval: f64) {
        let refreshes = (nanos(at - self.phase) / interval).round();
        let expected = self.phase + span(refreshes * interval);
        let error = nanos(at - expected);
        let fits = refreshes >= 1.0 && error.abs() <= FITS * interval;
        self.misfits = self.misfits << 1 | u32::from(!fits);
        if fits {
            self.phase = expected + span(PHASE_GAIN * error);
            self.interval = Some(interval + INTERVAL_GAIN * error / refreshes);
        } else if self.misfits.count_ones() > MOST_MISFITS {
            self.forget();
        }
    }

    /// Forgets what was learnt.
    fn forget(&mut self) {
        self.gaps.clear();
        self.interval = None;
        self.misfits = 0;
    }

    /// Time between refreshes; `None` while it is unknown.
    #[must_use]
    pub fn interval(&self, now: Time) -> Option<TimeDelta> {
        let interval = self.interval?;
        (now.since(self.phase) <= LOST_AFTER).then(|| span(interval))
    }

    /// The first refresh at `time` or after it; `None` while no interval is known.
    #[must_use]
    pub fn at_or_after(&self, time: Time) -> Option<Time> {
        let interval = self.interval?;
        let refreshes = (nanos(time - self.phase) / interval).ceil();
        Some(self.phase + span(refreshes * interval))
    }
}

fn nanos(span: TimeDelta) -> f64 {
    span.as_secs() * 1e9
}

fn span(nanos: f64) -> TimeDelta {
    TimeDelta::from_secs(nanos / 1e9)
}

const _: () = assert!(JUDGED == u32::BITS, "one bit for each");

#[cfg(test)]
mod tests {
    use mimosa_units::random::SplitMix;

    use super::*;

    /// The times of refreshes with `hertz`, each told up to `late` after it, and one in `missed` not told.
    fn told(hertz: f64, late: f64, missed: u64, seed: u64) -> impl Iterator<Item = (Time, Time)> {
        let mut random = SplitMix::new(seed);
        (0_u32..).filter_map(move |number| {
            let at = TimeDelta::from_secs(3.0 + f64::from(number) / hertz);
            let after = TimeDelta::from_secs(late * random.uniform());
            let is_told = missed == 0 || !random.one_in(missed);
            is_told.then_some((Time::ZERO + at, Time::ZERO + at + after))
        })
    }

    #[test]
    fn any_display_is_known_to_a_tenth_of_a_millisecond_although_refreshes_are_missed() {
        for (seed, hertz) in [59.94, 60.0, 75.0, 120.0, 144.0, 240.0]
            .into_iter()
            .enumerate()
        {
            let mut clock = RefreshClock::default();
            let mut last = Time::ZERO;
            for (at, told) in told(hertz, 0.000_2, 5, seed as u64).take(400) {
                clock.refreshed(told);
                last = at;
            }
            let interval = clock.interval(last).unwrap().as_secs();
            assert!((interval * hertz - 1.0).abs() < 1e-3, "{hertz}: {interval}");
            // Half a second on, nothing was observed in between.
            let refreshes = (0.5 * hertz).round();
            let true_one = last + TimeDelta::from_secs(refreshes / hertz);
            let guess = clock
                .at_or_after(true_one - TimeDelta::from_millis(1))
                .unwrap();
            let off = (guess - true_one).as_secs().abs();
            assert!(off < 0.000_3, "{hertz}: {off}");
        }
    }

    #[test]
    fn a_refresh_without_an_interval_is_unknown() {
        let mut clock = RefreshClock::default();
        let mut random = SplitMix::new(4);
        let mut at = Time::from_secs(1);
        for _ in 0..1_000 {
            at += TimeDelta::from_secs(0.007 + 0.014 * random.uniform());
            clock.refreshed(at);
            assert_eq!(clock.interval(at), None);
        }
    }

    #[test]
    fn another_rate_is_learnt_anew_and_silence_is_unknown() {
        let mut clock = RefreshClock::default();
        let mut last = Time::ZERO;
        for (_, at) in told(60.0, 0.0, 0, 0).take(100) {
            clock.refreshed(at);
            last = at;
        }
        assert!(clock.interval(last).is_some());
        let start = last;
        for number in 1..=60_u32 {
            last = start + TimeDelta::from_secs(f64::from(number) / 144.0);
            clock.refreshed(last);
        }
        let interval = clock.interval(last).unwrap().as_millis();
        assert!((6.9..7.0).contains(&interval), "{interval}");
        assert_eq!(clock.interval(last + TimeDelta::from_millis(1_001)), None);
        // Times that repeat or go back are not refreshes.
        clock.refreshed(last);
        clock.refreshed(last - TimeDelta::from_millis(5));
        let again = clock.interval(last).unwrap().as_millis();
        assert!((again - interval).abs() < 1e-9);
    }
}
