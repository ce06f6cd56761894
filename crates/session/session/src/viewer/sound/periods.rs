//! Replaces sound that is late by repetitions of the last period.
//!
//! Because whole periods are repeated, the late sound continues without a seam.

use std::collections::VecDeque;

use mimosa_facts::sound::{CHANNELS, FRAMES};

/// Sample frames of history in which the period is found: 21 ms.
const HISTORY: usize = 1_024;
/// Longest and shortest period, in sample frames: 100 and 400 Hz.
const LONGEST: usize = 480;
const SHORTEST: usize = 120;
/// Sample frames over which the step at the beginning of a repetition is smoothed: 0.7 ms.
const STEP: u16 = 32;

/// Keeps the sound played last, and repeats its last period.
#[derive(Debug)]
pub struct Periods {
    recent: VecDeque<[i16; CHANNELS]>,
}

impl Default for Periods {
    fn default() -> Self {
        Self {
            recent: VecDeque::from(vec![[0; CHANNELS]; HISTORY]),
        }
    }
}

impl Periods {
    /// Takes samples that are played, with all channels of a sample frame next to each other.
    pub fn heard(&mut self, samples: &[i16]) {
        let frames = samples.chunks_exact(CHANNELS);
        let frames = frames.map(|frame| std::array::from_fn(|channel| frame[channel]));
        self.recent.extend(frames);
        let old = self.recent.len() - HISTORY;
        self.recent.drain(..old);
    }

    /// Whole periods of the last sound, as near to 10 ms as possible.
    pub fn more(&mut self) -> Vec<i16> {
        let recent = self.recent.make_contiguous();
        let period = period(recent);
        let times = (FRAMES + period / 2) / period;
        let (before, last) = recent.split_at(HISTORY - period);
        let mut out = last.repeat(times);
        let (from, to) = (last[period - 1], before[before.len() - 1]);
        for (frame, left) in out.iter_mut().zip((0..STEP).rev()) {
            for (channel, sample) in frame.iter_mut().enumerate() {
                let step = i32::from(from[channel]) - i32::from(to[channel]);
                let value = i32::from(*sample) + step * i32::from(left) / i32::from(STEP);
                let value = value.clamp(i32::from(i16::MIN), i32::from(i16::MAX));
                *sample = i16::try_from(value).unwrap_or_default();
            }
        }
        out.concat()
    }
}

/// The shift, in sample frames, at which the history is most similar to itself.
fn period(recent: &[[i16; CHANNELS]]) -> usize {
    let sum: Vec<f64> = recent
        .iter()
        .map(|frame| frame.iter().map(|sample| f64::from(*sample)).sum())
        .collect();
    let likeness = |shift: usize| {
        // Every second sample frame is enough.
        let places = (HISTORY - LONGEST..HISTORY).step_by(2);
        let (product, energy) = places.fold((0.0, 1e-9), |(product, energy), place| {
            let before = sum[place - shift];
            (product + sum[place] * before, energy + before * before)
        });
        product / f64::sqrt(energy)
    };
    let shifts = (SHORTEST..=LONGEST).map(|shift| (shift, likeness(shift)));
    let best = shifts.max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map_or(SHORTEST, |(shift, _)| shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tone on the left, and the same at half the amplitude on the right.
    #[expect(clippy::cast_possible_truncation, reason = "within its bounds")]
    fn tone(hertz: f64, frames: std::ops::Range<usize>) -> Vec<i16> {
        let value = |place: usize| {
            let phase = std::f64::consts::TAU * hertz * place as f64 / 48_000.0;
            (10_000.0 * libm::sin(phase)) as i16
        };
        frames
            .flat_map(|place| [value(place), value(place) / 2])
            .collect()
    }

    #[test]
    fn what_was_late_goes_on_without_a_seam() {
        for whole in [110_u16, 220, 330, 390, 1_000] {
            let hertz = f64::from(whole);
            for end in [2_000, 2_037, 2_111] {
                let mut periods = Periods::default();
                let heard = tone(hertz, 0..end);
                periods.heard(&heard);
                let more = periods.more();
                let frames = more.len() / CHANNELS;
                assert!((240..=720).contains(&frames), "{hertz}: {frames}");
                let next = tone(hertz, end..end + 500);
                let all = [&heard[..], &more, &next].concat();
                let left: Vec<f64> = all.iter().step_by(2).map(|it| f64::from(*it)).collect();
                let steepest = left.windows(2).map(|pair| (pair[1] - pair[0]).abs());
                let steepest = steepest.fold(0.0, f64::max);
                let own = 10_000.0 * std::f64::consts::TAU * hertz / 48_000.0;
                assert!(steepest < 1.25 * own + 2.0, "{hertz}: {steepest} {own}");
                // No part of the result is softer, as it would be if it were mixed with another
                // phase of itself.
                let window = 96_000 / usize::from(whole);
                let energy = |part: &[f64]| {
                    2.0 * part.iter().map(|it| it * it).sum::<f64>() / part.len() as f64 / 1e8
                };
                let quietest = left.windows(window).map(energy).fold(2.0, f64::min);
                assert!(quietest > 0.93, "{hertz}: {quietest}");
            }
        }
    }

    #[test]
    fn what_has_no_period_has_no_step_either() {
        let mix = |frames: std::ops::Range<usize>| -> Vec<i16> {
            let tones = [173.0, 457.0, 911.0].map(|hertz| tone(hertz, frames.clone()));
            let sum = |place: usize| tones.iter().map(|tone| tone[place] / 3).sum();
            (0..tones[0].len()).map(sum).collect()
        };
        let steepest = |samples: &[i16]| {
            let left: Vec<i16> = samples.iter().copied().step_by(2).collect();
            let steps = left.windows(2).map(|pair| (pair[1] - pair[0]).abs());
            steps.max().unwrap()
        };
        for end in (2_000..3_000).step_by(37) {
            let mut periods = Periods::default();
            let heard = mix(0..end);
            periods.heard(&heard);
            let joint = [&heard[..], &periods.more()[..100]].concat();
            let (joint, own) = (steepest(&joint), steepest(&heard));
            assert!(
                f64::from(joint) < 1.5 * f64::from(own),
                "{end}: {joint} {own}"
            );
        }
    }

    #[test]
    fn silence_goes_on_as_silence() {
        let mut periods = Periods::default();
        assert!(periods.more().iter().all(|sample| *sample == 0));
        periods.heard(&tone(200.0, 0..300));
        periods.heard(&[0; 4 * HISTORY]);
        assert!(periods.more().iter().all(|sample| *sample == 0));
    }
}
