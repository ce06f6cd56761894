//! Plays samples slightly faster or slower, by cubic interpolation (Catmull and Rom).
//!
//! At half a percent the pitch is 9 cents off, which is not heard, and nothing is left out or
//! inserted.

use mimosa_facts::sound::{Block, CHANNELS};

/// Interpolates samples at a speed. Samples come out two later than they go in.
#[derive(Debug)]
pub struct Stretch {
    kept: Vec<[f32; CHANNELS]>,
    /// Index in `kept` of the sample before the next one to come out.
    whole: usize,
    /// Place of the next sample behind `whole`, from 0 to 1 sample.
    part: f64,
}

impl Default for Stretch {
    fn default() -> Self {
        Self {
            kept: vec![[0.0; CHANNELS]],
            whole: 1,
            part: 0.0,
        }
    }
}

impl Stretch {
    /// The samples of a block at this speed, where 1 is the speed of the recording, with all
    /// channels of a sample frame next to each other.
    pub fn block(&mut self, block: &Block, speed: f64) -> Vec<i16> {
        let frames = block.chunks_exact(CHANNELS);
        let frames = frames.map(|frame| std::array::from_fn(|channel| f32::from(frame[channel])));
        self.kept.extend(frames);
        let mut out = Vec::with_capacity(block.len() + block.len() / 50);
        while let Some(near) = self.kept.get(self.whole - 1..self.whole + 3) {
            for channel in 0..CHANNELS {
                let near = [0, 1, 2, 3].map(|place: usize| near[place][channel]);
                out.push(between(near, self.part));
            }
            self.part += speed;
            while self.part >= 1.0 {
                self.part -= 1.0;
                self.whole += 1;
            }
        }
        self.kept.drain(..self.whole - 1);
        self.whole = 1;
        out
    }
}

/// The value at `part`, from 0 to 1, of the way from `b` to `c`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a sample is of 16 bits, and what is louder is cut off"
)]
fn between([a, b, c, d]: [f32; 4], part: f64) -> i16 {
    let part = part as f32;
    let slope = (c - a) / 2.0;
    let next = (d - b) / 2.0;
    let bend = 3.0 * (c - b) - 2.0 * slope - next;
    let twist = 2.0 * (b - c) + slope + next;
    let value = b + part * (slope + part * (bend + part * twist));
    value.round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: usize = 480;

    /// A tone of 300 Hz on the left; the right is silent.
    fn tone(sample: f64) -> f64 {
        10_000.0 * libm::sin(std::f64::consts::TAU * 300.0 * sample / 48_000.0)
    }

    #[expect(clippy::cast_possible_truncation, reason = "within its bounds")]
    fn block(number: usize) -> Block {
        let mut block = [0; FRAMES * CHANNELS];
        for (place, frame) in block.chunks_exact_mut(CHANNELS).enumerate() {
            frame[0] = tone((number * FRAMES + place) as f64).round() as i16;
        }
        block
    }

    #[test]
    fn as_it_was_recorded_it_is_the_very_samples() {
        let mut stretch = Stretch::default();
        let all: Vec<i16> = (0..10)
            .flat_map(|number| stretch.block(&block(number), 1.0))
            .collect();
        let recorded: Vec<i16> = (0..10).flat_map(block).collect();
        assert_eq!(all.len(), recorded.len() - 2 * CHANNELS);
        assert_eq!(all, recorded[..all.len()]);
    }

    #[test]
    fn faster_and_slower_it_is_the_same_tone_of_another_pitch() {
        for speed in [0.99, 1.005] {
            let mut stretch = Stretch::default();
            let all: Vec<i16> = (0..100)
                .flat_map(|number| stretch.block(&block(number), speed))
                .collect();
            let frames = all.len() / CHANNELS;
            let expected = 100.0 * FRAMES as f64 / speed;
            assert!(
                (frames as f64 - expected).abs() < 4.0,
                "{frames} {expected}"
            );
            for (place, frame) in all.chunks_exact(CHANNELS).enumerate() {
                let off = f64::from(frame[0]) - tone(place as f64 * speed);
                // The bound is of 10 000, for the error of the cubic and of rounding; the beginning
                // is cut off.
                assert!(off.abs() < 3.0 || place < 4, "{place}: {off}");
                assert_eq!(frame[1], 0);
            }
        }
    }

    #[test]
    fn what_is_too_loud_is_cut_off() {
        let mut loud = [i16::MAX; FRAMES * CHANNELS];
        loud[..200].fill(i16::MIN);
        let mut stretch = Stretch::default();
        let all = [stretch.block(&loud, 0.99), stretch.block(&loud, 0.99)].concat();
        assert!(all.contains(&i16::MAX) && all.contains(&i16::MIN));
    }
}
