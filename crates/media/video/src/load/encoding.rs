//! How fast the encoder works now.

use std::collections::VecDeque;

use mimosa_facts::Strain;
use mimosa_units::TimeDelta;

/// The number of frames that are remembered, and the number of those that may be slower than the
/// rate. Our choice: two slow frames in a row change nothing, and the third one does, 50 ms after the
/// first at 60 frames a second.
const WINDOW: usize = 6;
const SLOWER: usize = 2;
/// The share of the time for which an encoder has a processor below which other work takes it. Our
/// choice: undisturbed, it has 0.95 and more.
const OWN: f64 = 0.75;

/// A frame: its seconds, those for a unit of work, and the processor's share, if it is known.
#[derive(Clone, Copy, Debug)]
struct Sample {
    seconds: f64,
    rate: f64,
    share: Option<f64>,
}

/// The last frames.
#[derive(Clone, Debug)]
pub(super) struct Encoding {
    last: VecDeque<Sample>,
}

impl Encoding {
    pub(super) const fn new() -> Self {
        Self {
            last: VecDeque::new(),
        }
    }

    /// Takes a frame of this much `work`.
    pub(super) fn add(&mut self, took: TimeDelta, processor: Option<TimeDelta>, work: f64) {
        if self.last.len() == WINDOW {
            self.last.pop_front();
        }
        let seconds = took.as_secs().max(0.0);
        self.last.push_back(Sample {
            seconds,
            rate: seconds / work.max(1.0),
            share: processor
                .filter(|_| seconds > 0.0)
                .map(|processor| processor.as_secs() / seconds),
        });
    }

    /// The seconds for a unit of work: two of six frames are slower. `None` before there are enough.
    pub(super) fn rate(&self) -> Option<f64> {
        self.usual(|sample| sample.rate)
    }

    /// The time for a frame, as they were of late: two of six were slower.
    pub(super) fn time(&self) -> Option<TimeDelta> {
        self.usual(|sample| sample.seconds)
            .map(TimeDelta::from_secs)
    }

    fn usual(&self, of: fn(&Sample) -> f64) -> Option<f64> {
        let mut values: Vec<_> = self.last.iter().map(of).collect();
        values.sort_unstable_by(f64::total_cmp);
        let place = values.len().checked_sub(SLOWER + 1)?;
        values.get(place).copied().filter(|value| *value > 0.0)
    }

    /// Why it takes so long: what the processor's share was of the slowest frames.
    pub(super) fn strain(&self) -> Strain {
        let mut slowest: Vec<_> = self.last.iter().copied().collect();
        slowest.sort_unstable_by(|one, other| other.rate.total_cmp(&one.rate));
        slowest.truncate(SLOWER + 1);
        let mut shares: Vec<_> = slowest.iter().filter_map(|one| one.share).collect();
        shares.sort_unstable_by(f64::total_cmp);
        match shares.get(shares.len() / 2) {
            Some(share) if *share < OWN => Strain::ProcessorTaken,
            _ => Strain::EncoderAtLimit,
        }
    }
}
