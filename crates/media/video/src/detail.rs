//! The number of pixels, and of frames per second, that a bitrate is worth.
//!
//! Below a certain bitrate, a smaller picture shown at full size looks better, and below
//! another bitrate, fewer pictures do. The quantiser shows when, because an encoder raises
//! it when the budget is too small. From a quantiser of [`Config::coarse`] on, there is a
//! step down. A step up follows as soon as the quantiser predicted for it has been
//! [`Config::margin`] better than that for [`Config::up_after`]. After a step up that had
//! to be taken back, the next try comes after twice the time.
//! back is tried again after twice the time.

use mimosa_units::{Time, TimeDelta};

use crate::picture::Size;

/// The weight of a new frame in the mean quantiser: about 15 frames.
const WEIGHT: f64 = 1.0 / 15.0;
/// The rise of the quantiser when the pixels of a frame, or the frames of a second, double.
/// Six is twice the bits; pictures need 0.8 to 1.1 of that (`docs/how-it-works/encoder.md`).
const PER_DOUBLING: f64 = 6.0;
/// The least side of a picture that is made smaller.
const LEAST_SIDE: u32 = 180;

/// A step: the sides in quarters, and the number of frames of which one is taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    quarters: u32,
    every: u32,
}

/// The steps from full detail downwards: pixels are reduced first, because a game answers
/// its player with frames.
const STEPS: [Step; 4] = [
    Step {
        quarters: 4,
        every: 1,
    },
    Step {
        quarters: 3,
        every: 1,
    },
    Step {
        quarters: 2,
        every: 1,
    },
    Step {
        quarters: 2,
        every: 2,
    },
];

impl Step {
    /// All pixels of every picture.
    pub const FULL: Self = Self {
        quarters: 4,
        every: 1,
    };

    /// The step with so many quarters of both sides, and one of `every` pictures.
    pub(crate) const fn new(quarters: u32, every: u32) -> Self {
        Self { quarters, every }
    }

    /// The sides in quarters.
    #[must_use]
    pub const fn quarters(self) -> u32 {
        self.quarters
    }

    /// The step with the fewer pixels and the fewer pictures of both.
    #[must_use]
    pub fn least(self, other: Self) -> Self {
        Self {
            quarters: self.quarters.min(other.quarters),
            every: self.every.max(other.every),
        }
    }

    /// The size at which a picture of `size` is encoded.
    #[must_use]
    pub fn size(self, size: Size) -> Size {
        let least = size.width().min(size.height());
        let fits = |quarters: &u32| *quarters == 4 || least * quarters / 4 >= LEAST_SIDE;
        let quarters = (self.quarters..=4).find(fits).unwrap_or(4);
        let part = |whole: u32| (whole * quarters / 4).next_multiple_of(2);
        Size::new(part(size.width()), part(size.height())).unwrap_or(size)
    }

    /// The number of pixels kept of sixteen.
    #[must_use]
    pub const fn pixels(self) -> u32 {
        self.quarters * self.quarters
    }

    /// The number of frames of which one is taken.
    #[must_use]
    pub const fn every(self) -> u32 {
        self.every
    }

    /// The pixels per second, relative to full detail.
    fn load(self) -> f64 {
        f64::from(self.quarters * self.quarters) / 16.0 / f64::from(self.every)
    }
}

/// The parameters of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The quantiser from which on a smaller picture looks better. On two clips at
    /// 1280x720, VMAF has it between 38 and 43, and above 44.
    pub coarse: f64,
    /// The improvement of the quantiser that a step up needs.
    pub margin: f64,
    /// The time for which the quantiser has to be coarse before a step down.
    pub down_after: TimeDelta,
    /// The time for which the quantiser has to be good before a step up.
    pub up_after: TimeDelta,
    /// The longest that [`Config::up_after`] becomes.
    pub most_wait: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            coarse: 44.0,
            margin: 4.0,
            down_after: TimeDelta::from_millis(500),
            up_after: TimeDelta::from_millis(3_000),
            most_wait: TimeDelta::from_millis(60_000),
        }
    }
}

/// The state of the rule for one stream.
#[derive(Clone, Debug)]
pub struct Detail {
    config: Config,
    step: usize,
    /// The mean quantiser since the last step.
    quantiser: Option<f64>,
    /// The time since when the mean is coarse, and since when it is good.
    coarse_since: Option<Time>,
    good_since: Option<Time>,
    /// The time for which the quantiser has to be good at present.
    wait: TimeDelta,
    /// The time of the last step up.
    rose: Option<Time>,
}

impl Detail {
    /// A stream at full detail.
    #[must_use]
    pub const fn new(config: Config) -> Self {
        Self {
            wait: config.up_after,
            config,
            step: 0,
            quantiser: None,
            coarse_since: None,
            good_since: None,
            rose: None,
        }
    }

    /// The current step.
    #[must_use]
    pub const fn step(&self) -> Step {
        STEPS[self.step]
    }

    /// Records a frame's mean quantiser on H.264's scale, 0 to 51; returns whether the step
    /// changed.
    pub fn frame(&mut self, now: Time, quantiser: f64) -> bool {
        let mean = self.quantiser.unwrap_or(quantiser);
        let mean = mean + WEIGHT * (quantiser - mean);
        self.quantiser = Some(mean);
        let is_coarse = mean >= self.config.coarse && self.step + 1 < STEPS.len();
        let is_good =
            self.step > 0 && self.foretold(mean) <= self.config.coarse - self.config.margin;
        since(&mut self.coarse_since, is_coarse, now);
        since(&mut self.good_since, is_good, now);
        let lasts = |since: Option<Time>, time| since.is_some_and(|since| now.since(since) >= time);
        if lasts(self.coarse_since, self.config.down_after) {
            let fell_back = self
                .rose
                .is_some_and(|rose| now.since(rose) < self.config.up_after * 2);
            self.wait = if fell_back {
                (self.wait * 2).min(self.config.most_wait)
            } else {
                self.config.up_after
            };
            self.go(self.step + 1);
            self.rose = None;
            true
        } else if lasts(self.good_since, self.wait) {
            self.go(self.step - 1);
            self.rose = Some(now);
            true
        } else {
            false
        }
    }

    /// The quantiser predicted after a step up.
    fn foretold(&self, mean: f64) -> f64 {
        let above = STEPS[self.step.saturating_sub(1)];
        mean + PER_DOUBLING * libm::log2(above.load() / self.step().load())
    }

    fn go(&mut self, step: usize) {
        self.step = step;
        self.quantiser = None;
        self.coarse_since = None;
        self.good_since = None;
    }
}

/// Records since when `is_so`.
fn since(since: &mut Option<Time>, is_so: bool, now: Time) {
    *since = if is_so { since.or(Some(now)) } else { None };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream at 60 frames per second whose quantiser follows from the bitrate and the
    /// step.
    struct Stream {
        detail: Detail,
        now: Time,
    }

    impl Stream {
        fn new() -> Self {
            Self {
                detail: Detail::new(Config::default()),
                now: Time::ZERO,
            }
        }

        /// Runs with a quantiser of `full` at full detail; returns the number of steps
        /// taken.
        fn run(&mut self, seconds: f64, full: f64) -> usize {
            let mut changes = 0;
            let end = self.now + TimeDelta::from_secs(seconds);
            while self.now < end {
                let step = self.detail.step();
                self.now += TimeDelta::from_micros(16_667 * i64::from(step.every()));
                let quantiser = full + 5.5 * libm::log2(step.load());
                changes += usize::from(self.detail.frame(self.now, quantiser.clamp(0.0, 51.0)));
            }
            changes
        }
    }

    #[test]
    fn a_stream_with_enough_keeps_its_pixels() {
        let mut stream = Stream::new();
        assert_eq!(stream.run(60.0, 43.0), 0);
    }

    #[test]
    fn one_with_too_little_goes_down_as_far_as_it_must() {
        let mut stream = Stream::new();
        stream.run(1.0, 47.0);
        assert_eq!(stream.detail.step(), STEPS[1]);
        // 47 - 5.5 log2(16 / 9) = 42.4.
        assert_eq!(stream.run(30.0, 47.0), 0, "and stays there");
        stream.run(5.0, 60.0);
        assert_eq!(stream.detail.step(), STEPS[3]);
    }

    #[test]
    fn a_short_dip_changes_nothing() {
        let mut stream = Stream::new();
        for _ in 0..20 {
            assert_eq!(stream.run(0.3, 50.0), 0);
            assert_eq!(stream.run(1.0, 38.0), 0);
        }
    }

    #[test]
    fn it_comes_back_when_there_is_enough_and_not_before() {
        let mut stream = Stream::new();
        stream.run(2.0, 47.0);
        assert_eq!(
            stream.run(30.0, 41.0),
            0,
            "one step up would be at the edge"
        );
        assert_eq!(stream.run(2.9, 38.0), 0, "not at once");
        assert_eq!(stream.run(1.0, 38.0), 1);
        assert_eq!(stream.detail.step(), STEPS[0]);
    }

    #[test]
    fn what_goes_back_and_forth_waits_longer_each_time() {
        let mut stream = Stream::new();
        stream.run(1.0, 47.0);
        let mut changes = 0;
        for _ in 0..60 {
            // The quantiser is good until a step up is tried.
            changes += stream.run(
                1.0,
                if stream.detail.step() == STEPS[0] {
                    47.0
                } else {
                    38.0
                },
            );
        }
        assert!(changes <= 10, "{changes} steps in a minute");
        assert!(changes >= 4, "{changes}: it never tried");
    }

    #[test]
    fn sizes_are_even_in_shape_and_never_tiny() {
        let size: Size = "1280x720".parse().unwrap();
        let sizes = STEPS.map(|step| step.size(size).to_string());
        assert_eq!(sizes, ["1280x720", "960x540", "640x360", "640x360"]);
        let odd: Size = "1366x768".parse().unwrap();
        assert_eq!(STEPS[1].size(odd).to_string(), "1024x576");
        let small: Size = "320x240".parse().unwrap();
        assert_eq!(STEPS[1].size(small).to_string(), "240x180");
        assert_eq!(STEPS[2].size(small).to_string(), "240x180", "no smaller");
        let tiny: Size = "160x120".parse().unwrap();
        assert_eq!(STEPS[3].size(tiny), tiny);
    }
}
