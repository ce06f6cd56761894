//! Tones of the built-in scene, so that it can be heard as well as seen.

use std::collections::VecDeque;

use mimosa_units::{Time, TimeDelta};

use mimosa_facts::sound::{BLOCK, Block, CHANNELS, FRAMES, RATE, span_of};

/// The most tones at a time; further ones are not heard.
const MOST: usize = 32;

/// A kind of tone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// An answer to the player: short and clear.
    Action,
    /// A quiet tone once a second.
    Pulse,
}

impl Tone {
    const fn frequency(self) -> f64 {
        match self {
            Self::Action => 660.0,
            Self::Pulse => 1_000.0,
        }
    }

    /// The highest amplitude, relative to full scale.
    const fn volume(self) -> f64 {
        match self {
            Self::Action => 0.2,
            Self::Pulse => 0.1,
        }
    }

    /// The half-life of the tone, which is loudest after its first quarter of a
    /// millisecond.
    const fn half_life(self) -> TimeDelta {
        match self {
            Self::Action => TimeDelta::from_millis(20),
            Self::Pulse => TimeDelta::from_millis(30),
        }
    }

    /// The length of the tone: ten half-lives, which is 60 dB.
    fn length(self) -> TimeDelta {
        self.half_life() * 10
    }

    /// The tone's value so long after its start, relative to full scale.
    fn value(self, since: f64) -> f64 {
        let fade = libm::exp2(-since / self.half_life().as_secs());
        let swing = libm::sin(std::f64::consts::TAU * self.frequency() * since);
        self.volume() * (since / RISE).min(1.0) * fade * swing
    }
}

/// The rise at the beginning of a tone, in seconds: without it, a tone begins with a crack.
const RISE: f64 = 0.000_25;

/// A generator of blocks from the tones that were started.
#[derive(Clone, Debug, Default)]
pub struct Tones {
    struck: VecDeque<(Time, Tone)>,
}

impl Tones {
    /// A generator that plays silence.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a tone at `at`.
    pub fn strike(&mut self, at: Time, tone: Tone) {
        if self.struck.len() < MOST {
            self.struck.push_back((at, tone));
        }
    }

    /// The block that begins at `begin`. A tone that started earlier and was not heard yet
    /// continues from where it would be.
    pub fn block(&mut self, begin: Time) -> Box<Block> {
        let mut block = Box::new([0; FRAMES * CHANNELS]);
        self.struck
            .retain(|(at, tone)| begin.since(*at) < tone.length());
        let end = begin + BLOCK;
        for (number, frame) in (0..).zip(block.chunks_mut(CHANNELS)) {
            let now = begin + span_of(number);
            let sounding = self.struck.iter().filter(|(at, _)| *at <= now && *at < end);
            let sum: f64 = sounding
                .map(|(at, tone)| tone.value(now.since(*at).as_secs()))
                .sum();
            #[expect(clippy::cast_possible_truncation, reason = "within its bounds")]
            let sample = (sum.clamp(-1.0, 1.0) * f64::from(i16::MAX)) as i16;
            frame.fill(sample);
        }
        block
    }
}

/// The cycles in a second of samples: half of the changes of sign.
#[cfg(test)]
pub(crate) fn crossings(samples: &[i16]) -> usize {
    let signs = samples.windows(2);
    signs.filter(|pair| (pair[0] < 0) != (pair[1] < 0)).count() / 2
}

const _: () = assert!(RATE as usize == FRAMES * 100);

#[cfg(test)]
mod tests {
    use super::*;

    const START: Time = Time::from_secs(3);

    /// One channel of this many blocks.
    fn heard(tones: &mut Tones, blocks: u32) -> Vec<i16> {
        let blocks = (0..blocks).flat_map(|n| tones.block(START + BLOCK * n).to_vec());
        blocks.step_by(CHANNELS).collect()
    }

    #[test]
    fn a_tone_begins_when_it_was_struck_and_fades() {
        let mut tones = Tones::new();
        tones.strike(START + TimeDelta::from_millis(25), Tone::Pulse);
        let samples = heard(&mut tones, 40);
        let first = samples.iter().position(|sample| *sample != 0).unwrap();
        assert!((1_200..1_204).contains(&first), "{first}");
        let loudest = |range: std::ops::Range<usize>| {
            samples[range]
                .iter()
                .map(|sample| sample.unsigned_abs())
                .max()
        };
        let early = loudest(1_200..1_300).unwrap();
        assert!((2_900..3_280).contains(&early), "{early}");
        assert!(loudest(16_000..19_200).unwrap() < 10);
        // The tone has a thousand cycles per second; 50 ms are counted.
        let cycles = crossings(&samples[1_200..3_600]);
        assert!((49..=51).contains(&cycles), "{cycles}");
        assert!(tones.struck.is_empty() || heard(&mut tones, 1).len() == FRAMES);
    }

    #[test]
    fn both_channels_are_alike_and_many_tones_do_not_overflow() {
        let mut tones = Tones::new();
        for _ in 0..1_000 {
            tones.strike(START, Tone::Action);
        }
        assert_eq!(tones.struck.len(), MOST);
        let block = tones.block(START);
        assert!(block.chunks(CHANNELS).all(|frame| frame[0] == frame[1]));
        assert!(block.iter().any(|sample| *sample > 30_000));
    }

    #[test]
    fn nothing_struck_is_silence() {
        assert!(
            heard(&mut Tones::new(), 3)
                .iter()
                .all(|sample| *sample == 0)
        );
    }
}
