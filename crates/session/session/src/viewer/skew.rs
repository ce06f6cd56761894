//! Measures the skew: how much later sound is heard than the picture of the same moment is seen.
//!
//! The host ties the RTP timestamps of both streams to its one clock. The time from the capture to
//! the display, or to the loudspeaker, is known up to the offset between the host's clock and the
//! client's. The offset is the same for both streams and cancels in the difference. The medians of
//! the last two seconds are compared.

use std::collections::VecDeque;

use mimosa_protocol::control::RtpClock;
use mimosa_units::{Time, TimeDelta};

/// Time span over which medians are taken.
const WINDOW: TimeDelta = TimeDelta::from_millis(2_000);
const PICTURES_PER_SECOND: i64 = 90_000;
const SAMPLES_PER_SECOND: i64 = 48_000;

/// Compares the delays of pictures and sound.
#[derive(Debug, Default)]
pub(super) struct Skew {
    picture: Stream,
    sound: Stream,
}

#[derive(Debug, Default)]
struct Stream {
    clock: Option<RtpClock>,
    /// For each display or playback: its time, and the time since the capture, which includes the
    /// offset between the clocks.
    delays: VecDeque<(Time, TimeDelta)>,
}

impl Skew {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Takes the host's statement of the streams' clocks. `None` keeps the clock known before.
    pub(super) fn clocks(&mut self, picture: Option<RtpClock>, sound: Option<RtpClock>) {
        self.picture.clock = picture.or(self.picture.clock);
        self.sound.clock = sound.or(self.sound.clock);
    }

    /// Notes that a picture was displayed at `at`.
    pub(super) fn seen(&mut self, timestamp: u32, at: Time) {
        self.picture.note(timestamp, at, PICTURES_PER_SECOND);
    }

    /// Notes that sound is heard at `at`.
    pub(super) fn heard(&mut self, timestamp: u32, at: Time) {
        self.sound.note(timestamp, at, SAMPLES_PER_SECOND);
    }

    /// How much later sound is heard than the picture is seen; `None` unless both are known.
    pub(super) fn now(&self) -> Option<TimeDelta> {
        Some(self.sound.median()? - self.picture.median()?)
    }
}

impl Stream {
    fn note(&mut self, timestamp: u32, at: Time, per_second: i64) {
        let Some(clock) = self.clock else {
            return;
        };
        let ticks = i64::from(timestamp.wrapping_sub(clock.rtp).cast_signed());
        let after = TimeDelta::from_nanos(ticks * 1_000_000_000 / per_second);
        let captured = clock.time.0 + after;
        self.delays.push_back((at, at.since(Time::ZERO) - captured));
        let is_old = |(old, _): &mut (Time, TimeDelta)| at.since(*old) > WINDOW;
        while self.delays.pop_front_if(is_old).is_some() {}
    }

    fn median(&self) -> Option<TimeDelta> {
        let mut all: Vec<_> = self.delays.iter().map(|(_, delay)| *delay).collect();
        all.sort_unstable();
        all.get(all.len() / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_protocol::control::Millis;

    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);

    #[test]
    fn the_clocks_fall_out_of_the_difference() {
        let clock = |rtp, millis: i64| {
            Some(RtpClock {
                rtp,
                time: Millis(TimeDelta::from_millis(millis)),
            })
        };
        let mut skew = Skew::new();
        // The host's clock is 7 s ahead; its RTP clocks begin anywhere, and wrap.
        skew.clocks(clock(u32::MAX - 44_999, 10_000), None);
        skew.clocks(None, clock(5, 10_010));
        let at = |millis: u64| Time::from_millis(millis);
        for step in 0..100_u64 {
            let picture = (u32::MAX - 44_999).wrapping_add(u32::try_from(step).unwrap() * 1_800);
            skew.seen(picture, at(3_000 + step * 20 + 15));
            assert_eq!(skew.now().is_some(), step > 0);
            let sound = 5 + u32::try_from(step).unwrap() * 960;
            skew.heard(sound, at(3_010 + step * 20 + 45));
        }
        assert_eq!(skew.now(), Some(MS * 30));
        // An hour later, the clocks are new ones and the skew is reversed.
        for step in 0..200_u32 {
            let at = |millis: u64| Time::from_millis(3_600_000 + u64::from(step) * 20 + millis);
            skew.clocks(clock(0, 3_607_000), clock(0, 3_607_000));
            skew.seen(step * 1_800, at(100));
            skew.heard(step * 960, at(60));
        }
        assert_eq!(skew.now(), Some(-MS * 40));
    }
}
