//! The noise of a path that delays each packet by another time.
//!
//! Where delays differ from packet to packet and order is kept, a packet that is held up holds up those behind it, so
//! that packets come in bunches with pauses between them, as from a link that [serves in turns](super::turns). The packets
//! that lead a frame tell the two apart: they leave together, and a link that serves in turns sends them in one turn,
//! while here each has a delay of its own. At a high load the packets of the frame before hold up those that lead, so
//! that what they have shown counts for a while.
//!
//! The noise is then the mean by which the first packets of frames are late, since few of them find a queue of their
//! own flow. A queue that stands raises this mean, but not the difference between one frame and the next: so the noise is at
//! most a multiple of their standard deviation, estimated from successive differences (J. von Neumann, *Distribution of the
//! ratio of the mean square successive difference to the variance*, 1941).
//!
//! *Deviations*: none, because there is no paper.

use mimosa_facts::FrameId;
use mimosa_units::{Time, TimeDelta};

/// Number of frames over which the mean and the deviation are averaged, and from which on they count: our choice, half a
/// second at 60 frames a second.
const AVERAGED: u32 = 32;
const COUNTS: u32 = 9;
/// Time for which it counts that leading packets had delays of their own: our choice.
const REMEMBERED: TimeDelta = TimeDelta::from_millis(10_000);

/// How late the first packets of the newest frames were.
#[derive(Debug, Default)]
pub(super) struct Jitter {
    newest: Option<FrameId>,
    frames: u32,
    /// Mean, in seconds, and variance of how late they were.
    mean: f64,
    variance: f64,
    last: f64,
    /// When leading packets last had delays of their own, and whether that counts still.
    shown: Option<Time>,
    counts: bool,
}

impl Jitter {
    /// Whether a packet of this frame is the first one that arrived of it, and the frame is newer than those before.
    pub(super) fn is_first_of(&self, frame: FrameId) -> bool {
        self.newest.is_none_or(|newest| frame > newest)
    }

    /// Takes the first packet of a frame that arrived, `late` after the time that an idle path without noise takes, and
    /// whether the newest packets that lead frames had delays of their own.
    pub(super) fn arrived(&mut self, now: Time, frame: FrameId, late: TimeDelta, differs: bool) {
        let late = late.as_secs();
        self.frames = self.frames.saturating_add(1).min(AVERAGED);
        let weight = 1.0 / f64::from(self.frames);
        self.mean += weight * (late - self.mean);
        if self.newest.replace(frame).is_some() {
            let step = late - self.last;
            self.variance += weight * (step * step / 2.0 - self.variance);
        }
        self.last = late;
        if differs {
            self.shown = Some(now);
        }
        let is_recent = self.shown.is_some_and(|at| now.since(at) < REMEMBERED);
        self.counts = is_recent && self.frames >= COUNTS;
    }

    /// The mean by which delays exceed the smallest one, at most `gain` standard deviations. `None` where the path does not
    /// delay each packet by another time, as far as leading packets have shown in the last 10 s.
    pub(super) fn noise(&self, gain: f64) -> Option<TimeDelta> {
        self.counts.then(|| {
            let most = gain * libm::sqrt(self.variance);
            TimeDelta::from_secs(self.mean.clamp(0.0, most))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATE: [i64; 4] = [0, 10, 4, 14];

    /// The noise after frames whose first packets are late by the times of [`LATE`] in turn, and by `more`. The leading packets
    /// of the first `differ` had delays of their own.
    fn noise(more: i64, differ: u64, frames: u64, gain: f64) -> Option<f64> {
        let mut jitter = Jitter::default();
        for (frame, late) in (0..frames).zip(LATE.into_iter().cycle()) {
            let late = TimeDelta::from_millis(late + more);
            let now = Time::from_millis(frame * 20);
            assert!(jitter.is_first_of(FrameId(frame)));
            jitter.arrived(now, FrameId(frame), late, frame < differ);
            assert!(!jitter.is_first_of(FrameId(frame)));
        }
        Some(jitter.noise(gain)?.as_secs() * 1e3)
    }

    /// A mean of 7 ms; steps of 10, -6, 10 and -14 ms, and so a deviation of sqrt(54) ms.
    #[test]
    fn the_noise_is_the_mean_and_a_queue_that_stands_is_not() {
        for (more, gain, expected) in [
            (0, 2.0, 7.0),
            (5, 2.0, 12.0),
            (50, 2.0, 2.0 * 54_f64.sqrt()),
            (50, 1.0, 54_f64.sqrt()),
        ] {
            let noise = noise(more, 400, 400, gain).unwrap();
            assert!((noise - expected).abs() < 0.5, "{noise} of {expected}");
        }
    }

    #[test]
    fn it_counts_while_leading_packets_have_shown_it() {
        let has = |differ, frames| noise(0, differ, frames, 2.0).is_some();
        assert!(!has(0, 400) && !has(8, 8) && has(9, 9));
        // Ten seconds after the last.
        assert!(has(100, 599) && !has(100, 600));
    }
}
