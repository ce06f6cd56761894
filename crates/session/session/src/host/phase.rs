//! Finds when, within the display's refresh interval, the source should draw.
//!
//! A display shows at each refresh the newest frame that is ready. A frame that becomes ready just
//! after a refresh waits for almost a whole interval. When source and display have nearly the same
//! rate, frames keep missing the refresh in this way for minutes. This module therefore asks a
//! source that can choose when to draw to do so a little later or earlier, until its frames are
//! ready shortly before the refresh.
//!
//! The measurement is each frame's wait from the end of decoding to its display. A part of that
//! wait is the compositor's. Its length is unknown, but every wait is at least as long, and longer
//! by at most one interval. The source is therefore delayed step by step until some frames miss
//! their refresh and wait one interval longer: the least wait at that point is the compositor's
//! part. From then on, all but [`LATE`] of the frames are kept [`MARGIN`] above it, counted around
//! the interval as on a clock face.

use std::f64::consts::TAU;

use mimosa_units::TimeDelta;

/// Number of frames in one judgement: half a second at 60 frames a second.
const WINDOW: usize = 30;
/// Share of the frames that may miss their refresh, from 0 to 1.
const LATE: f64 = 0.05;
/// How long before the last possible moment the other frames are to be ready.
const MARGIN: TimeDelta = TimeDelta::from_micros(2_000);
/// Longest shift of the source after one judgement, too short to be seen.
const STEP: TimeDelta = TimeDelta::from_micros(1_000);
/// Share of an error that one shift corrects.
const GAIN: f64 = 0.5;
/// Two waits that differ by more than this share of the interval lie on two sides of a refresh.
const ACROSS: f64 = 0.6;
/// Least length of the waits' mean direction on the circle of one interval, from 0 (evenly spread)
/// to 1 (all equal). Below it, the waits have no phase.
const SPREAD: f64 = 0.5;
/// Number of judgements in a row with a phase far off, after which the search for the compositor's
/// part begins anew.
const ASTRAY: u32 = 6;
/// Number of judgements after which a search is given up. At one [`STEP`] each, they cover three
/// intervals of 33 ms.
const SEARCH: u32 = 100;

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
    state: State,
}

impl PhaseLock {
    /// Begins a search, with `interval` between frames.
    pub(crate) fn new(interval: TimeDelta) -> Self {
        Self {
            interval: interval.as_secs(),
            waits: Vec::with_capacity(WINDOW),
            least: f64::INFINITY,
            state: State::Searching { judgements: 0 },
        }
    }

    /// Takes a frame's wait from the end of decoding to its display. Returns how much later the
    /// source should draw from now on (earlier, if negative), if that changes.
    pub(crate) fn shown(&mut self, wait: TimeDelta) -> Option<TimeDelta> {
        self.waits.push(wait.as_secs());
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
        self.least = self.least.min(waits[1]);
        match self.state {
            State::Off => None,
            State::Searching { judgements } => {
                let across = waits[waits.len() - 2] - self.least;
                self.state = if across > ACROSS * self.interval {
                    State::Locked { astray: 0 }
                } else if judgements == SEARCH {
                    State::Off
                } else {
                    State::Searching {
                        judgements: judgements + 1,
                    }
                };
                Some(STEP.as_secs())
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
                Some(GAIN * error)
            }
        }
    }

    /// How much later frames could be ready, in seconds; `None` when the waits have no phase.
    fn error(&self, waits: &[f64]) -> Option<f64> {
        let angle = |wait: f64| (wait - self.least) / self.interval * TAU;
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
            .map(|&wait| wrapped(angle(wait) - mean))
            .collect();
        from_mean.sort_unstable_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a length"
        )]
        let late = (LATE * waits.len() as f64) as usize;
        let early = wrapped(mean + from_mean[late]) / TAU * self.interval;
        Some(early - MARGIN.as_secs())
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
        offset: f64,
        frame: f64,
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
                offset,
                frame: 0.0,
                random: 1,
                lock: PhaseLock::new(TimeDelta::from_micros(16_667)),
            }
        }

        /// The next frame's wait.
        fn wait(&mut self) -> f64 {
            self.random = self
                .random
                .wrapping_mul(1_664_525)
                .wrapping_add(1_013_904_223);
            let random = f64::from(self.random >> 8) / f64::from(1 << 24);
            let ready = self.frame * INTERVAL + self.offset + 20.0 + self.jitter * random;
            self.frame += 1.0;
            let earliest = ready + self.compositor;
            let wait = (earliest / self.refresh).ceil() * self.refresh - ready;
            if let Some(shift) = self.lock.shown(TimeDelta::from_secs(wait / 1_000.0)) {
                assert!(shift <= STEP && -shift <= STEP);
                self.offset += shift.as_millis();
            }
            wait
        }

        /// The mean wait above the compositor's part over `seconds`.
        fn mean_over(&mut self, seconds: u32) -> f64 {
            let frames = 60 * seconds;
            let sum: f64 = (0..frames).map(|_| self.wait()).sum();
            sum / f64::from(frames) - self.compositor
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
        assert_eq!(shifts.count(), 101);
    }
}
