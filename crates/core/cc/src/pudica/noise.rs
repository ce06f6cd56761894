//! How much a probe is late without a queue.
//!
//! *Not in the paper*: equations 3 to 5 (section 4.1) count whatever a probe is late above the
//! smallest delay as a queue of others, four times in a frame. On a path that delays each packet by
//! chance, as those of the paper's measurements do (Fig. 7), that alone is a high use of the link:
//! with a median of 0.2 ms and a p99 of 2 ms the estimate is wrong by 0.20, and by 0.13 without any
//! probes.
//!
//! Two probes that meet no queue differ by chance alone. For delays spread upwards from a smallest
//! one, the mean difference between two is about their mean above it: the same for an exponential
//! distribution, 1.04 times for a log-normal one with a deviation of 1. Compared are the probes of
//! equal place in consecutive frames, so that a queue of others that stands there in both cancels.
//! Their median counts in place of the mean, so that a queue that leaps with the others' frames
//! raises the floor only if it leaps in half of the frames; and of the slots of a window the one
//! with the smallest median, so that it has to do so all the time.

use mimosa_units::{Time, TimeDelta};

use super::config::MOST_PROBES;
use crate::windowed_min::{SLOTS, WindowedMin};

/// Most differences in a slot; further ones are left out. Eight probes at 120 frames a second.
const MOST: usize = 480;
/// Mean over median of an exponential distribution, 1 / ln 2.
const MEAN_BY_MEDIAN: f64 = std::f64::consts::LOG2_E;
/// Fewest differences whose median counts: those of four probes in half a second at 30 frames a
/// second. Our choice.
const FEWEST: usize = 60;

/// The noise floor of probes.
#[derive(Debug)]
pub(super) struct Noise {
    /// What each probe of the frame before met, by its place.
    before: Vec<Option<TimeDelta>>,
    slot: TimeDelta,
    /// The differences in the present slot, which began at `since`.
    differences: Vec<TimeDelta>,
    since: Option<Time>,
    floor: WindowedMin,
}

impl Noise {
    /// The floor over a sliding window.
    pub(super) fn new(window: TimeDelta) -> Self {
        Self {
            before: Vec::new(),
            slot: window / SLOTS,
            differences: Vec::new(),
            since: None,
            floor: WindowedMin::new(window),
        }
    }

    /// Takes what the probe at `place` of a frame met, by equation 4.
    pub(super) fn probe(&mut self, now: Time, place: u16, met: TimeDelta) {
        let place = usize::from(place.min(MOST_PROBES));
        if self.before.len() <= place {
            self.before.resize(place + 1, None);
        }
        let before = self.before.get_mut(place).and_then(|it| it.replace(met));
        if let Some(before) = before.filter(|_| self.differences.len() < MOST) {
            self.differences.push((met - before).max(before - met));
        }
        let since = *self.since.get_or_insert(now);
        let count = self.differences.len();
        if count >= FEWEST && now.since(since) >= self.slot {
            let (_, median, _) = self.differences.select_nth_unstable(count / 2);
            self.floor.add(now, median.scale(MEAN_BY_MEDIAN));
            self.differences.clear();
            self.since = Some(now);
        }
    }

    /// The part of what a probe meets that is no queue; zero before it was
    /// measured.
    pub(super) fn floor(&self) -> TimeDelta {
        self.floor.get().unwrap_or(TimeDelta::ZERO)
    }

    /// Measures the floor anew, because the path has changed.
    pub(super) fn restart(&mut self) {
        self.floor.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: TimeDelta = TimeDelta::from_millis(10_000);

    /// The floor after 4 s of frames of 16 ms, each with a probe that met this.
    fn floor(met: impl Fn(u64) -> TimeDelta) -> TimeDelta {
        let mut noise = Noise::new(WINDOW);
        for frame in 0..250 {
            for place in 0..4 {
                let now = Time::from_millis(16 * frame + 3 * u64::from(place));
                noise.probe(now, place, met(frame));
            }
        }
        noise.floor()
    }

    #[test]
    fn the_floor_follows_the_median_difference_and_a_standing_queue_is_none() {
        assert_eq!(floor(|_| TimeDelta::ZERO), TimeDelta::ZERO);
        assert_eq!(floor(|_| TimeDelta::from_millis(3)), TimeDelta::ZERO);
        let by_turns = |frame: u64| TimeDelta::from_micros(100 + 400 * (frame % 2).cast_signed());
        assert_eq!(
            floor(by_turns),
            TimeDelta::from_micros(400).scale(MEAN_BY_MEDIAN)
        );
        // A leap in each fifth frame.
        let leaps = |frame: u64| TimeDelta::from_millis(3 * i64::from(frame.is_multiple_of(5)));
        assert_eq!(floor(leaps), TimeDelta::ZERO);
    }

    #[test]
    fn a_queue_that_comes_and_goes_is_none_either() {
        // Every other second, probes meet up to 2 ms.
        let met = |frame: u64| match frame / 62 % 2 {
            0 => TimeDelta::ZERO,
            _ => TimeDelta::from_micros(700 * (frame % 4).cast_signed()),
        };
        assert_eq!(floor(met), TimeDelta::ZERO);
    }
}
