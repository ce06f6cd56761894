//! Finds when, within the display's refresh interval, the source should draw.
//!
//! A display shows at each refresh the newest frame that is ready. A frame that becomes ready just
//! after a refresh waits for almost a whole interval, and of two frames that become ready between the
//! same two refreshes one is never seen. When source and display have nearly the same rate, frames keep
//! missing the refresh in this way for minutes. This module therefore asks a source that can choose
//! when to draw to do so a little later or earlier, until its frames are ready shortly before the
//! refresh, but so far from it that nearly none is late for it, or early enough for the one before.
//!
//! The measurement is each frame's wait from the end of decoding to its display. A part of that
//! wait is the compositor's. Its length is unknown, but every wait is at least as long, and longer
//! by at most one interval. The source is therefore delayed step by step until some frames miss
//! their refresh and wait one interval longer: the least wait at that point is the compositor's
//! part. From then on, the frames are kept [`MARGIN`] above it. Where they are
//! ready at such different times that the earliest would then come before the refresh before, both
//! ends are kept as far from a refresh. Waits are counted around the interval as on a clock face.

use std::f64::consts::TAU;

use mimosa_units::TimeDelta;

/// Number of frames in one judgement: a second at 60 frames a second.
const WINDOW: usize = 60;
/// How long before the last possible moment the frames are to be ready.
const MARGIN: TimeDelta = TimeDelta::from_micros(2_000);
/// Longest shift of the source after one judgement, too short to be seen.
const STEP: TimeDelta = TimeDelta::from_micros(4_000);
/// Shift after each judgement of a search: how exactly the compositor's part is found where frames are
/// ready at regular times.
const SEARCH_STEP: TimeDelta = TimeDelta::from_micros(2_000);
/// Share that one judgement has in how far frames' waits lie from their mean.
const SMOOTHING: f64 = 0.25;
/// A search has not found the compositor's part while each judgement finds the least wait lower by this.
const KNOWN: TimeDelta = TimeDelta::from_micros(500);
/// Two waits that differ by more than this share of the interval lie on two sides of a refresh.
const ACROSS: f64 = 0.6;
/// Least length of the waits' mean direction on the circle of one interval, from 0 (evenly spread)
/// to 1 (all equal). Below it, the waits have no phase.
const SPREAD: f64 = 0.3;
/// Number of judgements in a row with a phase far off, after which the search for the compositor's
/// part begins anew.
const ASTRAY: u32 = 6;
/// Number of judgements after which a search is given up. At one [`SEARCH_STEP`] each, they cover three
/// intervals of 33 ms.
const SEARCH: u32 = 50;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Delays the source step by step until frames miss their refresh.
    Searching { judgements: u32 },
    /// Keeps the source at the phase found. The last `astray` judgements had a phase far off.
    Locked { astray: u32 },
    /// Does nothing: the display has no refresh for which frames wait.
    Off,
}

/// Learns from frames' waits when the source should draw.
#[derive(Debug)]
pub(crate) struct PhaseLock {
    /// Time between refreshes, which is also the time between frames, in seconds.
    interval: f64,
    /// Waits since the last judgement, in seconds.
    waits: Vec<f64>,
    /// The least wait since the search began, in seconds, outliers aside.
    least: f64,
    /// The waits of the frames that are ready latest and earliest, less the mean wait, in seconds.
    ends: Option<(f64, f64)>,
    state: State,
}

impl PhaseLock {
    /// Begins a search, with `interval` between frames.
    pub(crate) fn new(interval: TimeDelta) -> Self {
        Self {
            interval: interval.as_secs(),
            waits: Vec::with_capacity(WINDOW),
            least: f64::INFINITY,
            ends: None,
            state: State::Searching { judgements: 0 },
        }
    }

    /// Takes a frame's wait from the end of decoding to its display. Returns how much later the
    /// source should draw from now on (earlier, if negative), if that changes. A negative wait counts
    /// as one until the next refresh: browsers name the refresh before for some frames.
    pub(crate) fn shown(&mut self, wait: TimeDelta) -> Option<TimeDelta> {
        let wait = wait.as_secs();
        self.waits.push(if wait < 0.0 {
            wait.rem_euclid(self.interval)
        } else {
            wait
        });
        if self.waits.len() < WINDOW || self.state == State::Off {
            self.waits.truncate(WINDOW - 1);
            return None;
        }
        let mut waits = std::mem::take(&mut self.waits);
        waits.sort_unstable_by(f64::total_cmp);
        let shift = self.judge(&waits);
        tracing::debug!(state = ?self.state, shift, least = self.least, "phase");
        waits.clear();
        self.waits = waits;
        let step = STEP.as_secs();
        let shift = TimeDelta::from_secs(shift?.clamp(-step, step));
        (shift != TimeDelta::ZERO).then_some(shift)
    }

    /// The shift for a judgement over `waits`, which are sorted; all in seconds.
    fn judge(&mut self, waits: &[f64]) -> Option<f64> {
        // The second smallest wait, because the smallest may be an outlier.
        let is_lower = waits[1] < self.least - KNOWN.as_secs();
        self.least = self.least.min(waits[1]);
        match self.state {
            State::Off => None,
            State::Searching { judgements } => {
                let across = waits[waits.len() - 2] - self.least;
                self.state = if across > ACROSS * self.interval && !is_lower {
                    State::Locked { astray: 0 }
                } else if judgements == SEARCH {
                    State::Off
                } else {
                    State::Searching {
                        judgements: judgements + 1,
                    }
                };
                Some(SEARCH_STEP.as_secs())
            }
            State::Locked { astray } => {
                let error = self.error(waits)?;
                // When most frames miss their refresh, the phase alone looks as if most were early.
                let is_late = waits[waits.len() / 2] - self.least > ACROSS * self.interval;
                self.state = if error.abs() < self.interval / 4.0 && !is_late {
                    State::Locked { astray: 0 }
                } else if astray == ASTRAY {
                    self.least = f64::INFINITY;
                    State::Searching { judgements: 0 }
                } else {
                    State::Locked { astray: astray + 1 }
                };
                Some(error)
            }
        }
    }

    /// How much later frames should be ready, in seconds; `None` when the waits have no phase.
    fn error(&mut self, waits: &[f64]) -> Option<f64> {
        let angle = |wait: f64| (wait - self.least) / self.interval * TAU;
        let seconds = |angle: f64| angle / TAU * self.interval;
        let (mut x, mut y) = (0.0, 0.0);
        for &wait in waits {
            x += libm::cos(angle(wait));
            y += libm::sin(angle(wait));
        }
        if libm::hypot(x, y) < SPREAD * waits.len() as f64 {
            return None;
        }
        let mean = libm::atan2(y, x);
        let mut from_mean: Vec<_> = waits
            .iter()
            .map(|&wait| seconds(wrapped(angle(wait) - mean)))
            .collect();
        from_mean.sort_unstable_by(f64::total_cmp);
        let seen = (from_mean[0], from_mean[from_mean.len() - 1]);
        let (latest, earliest) = self.ends.map_or(seen, |(latest, earliest)| {
            (
                latest + SMOOTHING * (seen.0 - latest),
                earliest + SMOOTHING * (seen.1 - earliest),
            )
        });
        self.ends = Some((latest, earliest));
        let shortly = MARGIN.as_secs() - latest;
        let middle = (self.interval - earliest - latest) / 2.0;
        let target = shortly.min(middle) / self.interval * TAU;
        Some(seconds(wrapped(mean - target)))
    }
}

/// The angle moved into the range from -pi to pi, in radians.
fn wrapped(angle: f64) -> f64 {
    angle - TAU * libm::round(angle / TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model of a display, a source and the way between them. All times are in milliseconds.
    struct World {
        /// Time between refreshes; the time between frames is [`INTERVAL`].
        refresh: f64,
        compositor: f64,
        /// Frames are ready late by a random time up to this one.
        jitter: f64,
        /// For how long after a refresh frames are told to be shown at it, and not at the next.
        named_before: f64,
        offset: f64,
        frame: f64,
        /// When the latest frame is ready, and the one that is to be shown next.
        ready: f64,
        ahead: Option<f64>,
        random: u32,
        lock: PhaseLock,
    }

    const INTERVAL: f64 = 16.667;

    impl World {
        fn new(refresh: f64, jitter: f64, offset: f64) -> Self {
            Self {
                refresh,
                compositor: 3.0,
                jitter,
                named_before: 0.0,
                offset,
                frame: 0.0,
                ready: 0.0,
                ahead: None,
                random: 1,
                lock: PhaseLock::new(TimeDelta::from_micros(16_667)),
            }
        }

        /// When the next frame is ready.
        fn ready(&mut self) -> f64 {
            self.random = self
                .random
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            let random = f64::from(self.random >> 8) / f64::from(1 << 24);
            let ready = self.frame * INTERVAL + self.offset + 20.0 + self.jitter * random;
            self.frame += 1.0;
            // Frames are decoded one after the other.
            self.ready = ready.max(self.ready);
            self.ready
        }

        /// The refresh at which a frame is shown that is ready at `ready`, if no later one is.
        fn refresh(&self, ready: f64) -> f64 {
            ((ready + self.compositor) / self.refresh).ceil() * self.refresh
        }

        /// The wait of the next frame, and whether it is shown: no other is ready for its refresh.
        fn next(&mut self) -> (f64, bool) {
            let ready = self.ahead.unwrap_or(0.0);
            let following = self.ready();
            self.ahead = Some(following);
            let refresh = self.refresh(ready);
            if self.refresh(following) <= refresh {
                return (refresh - ready, false);
            }
            let latest = self.compositor + self.refresh - self.named_before;
            let told = if refresh - ready > latest {
                refresh - self.refresh
            } else {
                refresh
            };
            if let Some(shift) = self
                .lock
                .shown(TimeDelta::from_secs((told - ready) / 1_000.0))
            {
                assert!(shift <= STEP && -shift <= STEP);
                self.offset += shift.as_millis();
            }
            (refresh - ready, true)
        }

        /// The mean wait above the compositor's part over `seconds`, and the share of frames not shown.
        fn over(&mut self, seconds: u32) -> (f64, f64) {
            let frames = 60 * seconds;
            let (mut sum, mut shown) = (0.0, 0);
            for _ in 0..frames {
                let (wait, is_shown) = self.next();
                sum += wait;
                shown += u32::from(is_shown);
            }
            let (frames, shown) = (f64::from(frames), f64::from(shown));
            (sum / frames - self.compositor, 1.0 - shown / frames)
        }

        fn mean_over(&mut self, seconds: u32) -> f64 {
            self.over(seconds).0
        }
    }

    #[test]
    fn frames_are_ready_shortly_before_the_refresh_from_any_phase() {
        for offset in 0..17 {
            let mut world = World::new(INTERVAL, 2.0, f64::from(offset));
            world.mean_over(15);
            let mean = world.mean_over(30);
            assert!((2.0..4.0).contains(&mean), "{offset}: {mean}");
        }
    }

    /// Frames that are ready at times up to 11 ms apart are kept off both refreshes, from any phase and by
    /// whichever refresh the display names; left alone, up to a third is never seen.
    #[test]
    fn of_frames_with_much_jitter_nearly_all_are_shown() {
        for named_before in [0.0, 7.5] {
            for offset in 0..17 {
                let mut world = World::new(INTERVAL, 11.0, f64::from(offset));
                world.compositor = 0.0;
                world.named_before = named_before;
                world.over(20);
                let (mean, lost) = world.over(60);
                let at = format!("{named_before} {offset}: {mean} {lost}");
                assert!((7.0..10.0).contains(&mean), "{at}");
                assert!(lost < 0.005, "{at}");
            }
        }
        let alone = |offset: u32| {
            let mut world = World::new(INTERVAL, 11.0, f64::from(offset));
            world.lock.state = State::Off;
            world.over(60).1
        };
        let worst = (0..17).map(alone).fold(0.0, f64::max);
        assert!((0.2..0.4).contains(&worst), "{worst}");
    }

    /// One frame is ready 0.5 ms and one 16 ms before a refresh, and 58 in between: 7.5 ms later and 8 ms
    /// earlier than these. The latest 2 ms before the refresh would be the earliest before the one before.
    #[test]
    fn frames_that_fill_an_interval_are_kept_in_its_middle() {
        let mut lock = PhaseLock::new(TimeDelta::from_micros(16_667));
        lock.least = 0.0;
        let mut waits = [8e-3; 60];
        (waits[0], waits[59]) = (0.5e-3, 16e-3);
        let error = lock.error(&waits).unwrap();
        // In the middle, the mean is (16.667 - 8 + 7.5) / 2 ms before the refresh.
        assert!((error - (8e-3 - 8.083e-3)).abs() < 0.1e-3, "{error}");
    }

    #[test]
    fn a_display_of_another_rate_is_followed() {
        // 59.94 and 60.06 Hz.
        for refresh in [16.683, 16.650] {
            let mut world = World::new(refresh, 2.0, 9.0);
            world.mean_over(15);
            let mean = world.mean_over(60);
            assert!((1.5..4.5).contains(&mean), "{refresh}: {mean}");
        }
    }

    #[test]
    fn a_compositor_that_takes_longer_is_learnt() {
        let mut world = World::new(INTERVAL, 1.0, 5.0);
        world.mean_over(15);
        world.compositor = 9.0;
        world.mean_over(30);
        let mean = world.mean_over(20);
        assert!((1.5..4.0).contains(&mean), "{mean}");
    }

    #[test]
    fn without_a_phase_nothing_moves() {
        // Frames with so much jitter have no phase.
        let mut world = World::new(INTERVAL, 2.0 * INTERVAL, 0.0);
        world.mean_over(20);
        let before = world.offset;
        world.mean_over(20);
        assert!(
            (world.offset - before).abs() < 3.0,
            "{}",
            world.offset - before
        );
        // A display that shows every frame at once has no phase either.
        let mut lock = PhaseLock::new(TimeDelta::from_micros(16_667));
        let shifts = (0..10_000).filter_map(|_| lock.shown(TimeDelta::from_millis(4)));
        assert_eq!(shifts.count(), 51);
    }
}
