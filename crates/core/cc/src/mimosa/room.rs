//! The answer to a buffer with less room than a frame needs.
//!
//! *Ours.* A frame that leaves faster than the link serves it waits in the link's buffer, and what does not
//! fit there is lost, however little of the link the stream uses: a switch between a fast host and a slow
//! port has 16 to 256 kB for it. Losses of frames that were sent within a
//! small part of their interval are therefore answered by sending the next ones over a longer part, and
//! not by sending less, where a good part of the frames has losses, as it is when frames of about one size
//! are too large. Where frames fill their interval already, losses have another cause, and nothing is
//! answered here. Losses that go on although frames are as long as this rule makes them have another cause
//! as well, such as a radio's: frames are then as short as before, and losses unanswered for some time.

use mimosa_facts::FrameId;
use mimosa_units::{Time, TimeDelta};

/// Factor by which the part becomes longer with each answer: our choice, five answers from a twentieth to
/// two fifths.
const LONGER: f64 = 1.5;
/// Shortest part that an answer leaves: our choice, 0.8 ms at 60 frames a second.
const SHORTEST: f64 = 0.05;
/// Longest part that an answer leaves: our choice.
const LONGEST: f64 = 0.9;
/// Share of frames with losses above which losses are answered, and number of frames over which it is
/// averaged: our choice.
const MANY: f64 = 0.25;
const FRAMES: f64 = 16.0;
/// Number of frames that are as long as they may be, after which many losses have another cause: twice
/// `FRAMES`.
const ENOUGH: u32 = 32;
/// Time without many losses after which the part is shortened by `SHORTER`, and so on: our choice. Each
/// try may cost some frames a few packets.
const HELD: TimeDelta = TimeDelta::from_millis(30_000);
const SHORTER: f64 = 0.8;
/// Time for which no loss is answered after losses that longer frames did not end: our choice.
const GIVEN_UP: TimeDelta = TimeDelta::from_millis(120_000);

/// The part of its interval over which a frame is sent at least, because of losses.
#[derive(Debug, Default)]
pub(super) struct Room {
    least: f64,
    /// When losses were last answered, or the part was last shortened: losses of packets that left before
    /// say nothing new.
    changed: Time,
    /// Number of frames since then.
    frames: u32,
    /// The part over which the newest frame is sent.
    part: f64,
    /// Share of frames with losses, and the newest frame that had one.
    lossy: f64,
    newest: Option<FrameId>,
    /// Until when losses are not answered.
    given_up: Time,
}

impl Room {
    /// The part of its interval over which a frame is sent that would be sent over `part` of it.
    pub(super) fn frame(&mut self, now: Time, part: f64) -> f64 {
        self.frames = self.frames.saturating_add(1);
        self.lossy -= self.lossy / FRAMES;
        if self.least > 0.0 && now.since(self.changed) > HELD {
            let shorter = self.least * SHORTER;
            self.change(now, if shorter < SHORTEST { 0.0 } else { shorter });
        }
        self.part = part.max(self.least);
        self.part
    }

    /// Takes at `now` the loss of a packet of `frame` that left at `sent`.
    pub(super) fn lost(&mut self, now: Time, frame: FrameId, sent: Time) {
        if self.newest.is_none_or(|newest| newest < frame) {
            self.newest = Some(frame);
            self.lossy += 1.0 / FRAMES;
        }
        if self.lossy < MANY || sent < self.changed || now < self.given_up {
            return;
        }
        if self.part < LONGEST {
            let longer = (self.part * LONGER).clamp(SHORTEST, LONGEST);
            self.change(now, longer);
        } else if self.least > 0.0 && self.frames > ENOUGH {
            self.change(now, 0.0);
            self.given_up = now + GIVEN_UP;
        }
    }

    fn change(&mut self, now: Time, least: f64) {
        self.least = least;
        self.changed = now;
        self.frames = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// The parts of frames from the first on that would have this part, of which `is_lossy` ones lose two
    /// packets.
    fn parts(room: &mut Room, frames: u64, part: f64, is_lossy: impl Fn(f64) -> bool) -> Vec<f64> {
        let mut parts = Vec::new();
        for frame in 0..frames {
            let now = 16 * frame;
            parts.push(room.frame(MS(now), part));
            if is_lossy(parts[parts.len() - 1]) {
                room.lost(MS(now + 10), FrameId(frame), MS(now + 1));
                room.lost(MS(now + 10), FrameId(frame), MS(now + 2));
            }
        }
        parts
    }

    #[test]
    fn frames_become_long_enough_for_the_room_there_is() {
        let mut room = Room::default();
        let parts = parts(&mut room, 100, 0.04, |part| part < 0.3);
        assert!(parts[..4].iter().all(|part| (part - 0.04).abs() < 1e-9));
        let last = 0.04 * libm::pow(LONGER, 5.0);
        assert!((parts[20] - last).abs() < 1e-9, "{parts:?}");
        assert!((parts[99] - last).abs() < 1e-9, "{parts:?}");
        assert!(
            (room.frame(MS(1_616), 0.9) - 0.9).abs() < 1e-9,
            "never shorter"
        );
    }

    #[test]
    fn few_losses_change_nothing_and_neither_do_those_of_long_frames() {
        let mut room = Room::default();
        for frame in 0..200 {
            let now = 16 * frame;
            assert!((room.frame(MS(now), 0.1) - 0.1).abs() < 1e-9);
            if frame % 6 == 0 {
                room.lost(MS(now + 10), FrameId(frame), MS(now + 1));
            }
        }
        let mut room = Room::default();
        assert!(
            parts(&mut room, 100, 0.95, |_| true)
                .iter()
                .all(|part| (part - 0.95).abs() < 1e-9)
        );
    }

    #[test]
    fn losses_that_longer_frames_do_not_end_are_left_alone() {
        let mut room = Room::default();
        let parts = parts(&mut room, 100, 0.1, |_| true);
        let longest = parts.iter().filter(|part| **part >= LONGEST).count();
        assert!((33..=36).contains(&longest), "{longest} {parts:?}");
        assert!((parts[99] - 0.1).abs() < 1e-9);
    }

    #[test]
    fn without_losses_frames_are_slowly_as_short_as_before() {
        let mut room = Room::default();
        parts(&mut room, 40, 0.1, |part| part < 0.2);
        let least = 0.1 * LONGER * LONGER;
        assert!((room.frame(MS(29_000), 0.01) - least).abs() < 1e-9);
        assert!((room.frame(MS(31_000), 0.01) - least * SHORTER).abs() < 1e-9);
        for step in 2..=9 {
            room.frame(MS(31_000 * step), 0.01);
        }
        assert!(
            (room.frame(MS(300_000), 0.01) - 0.01).abs() < 1e-9,
            "{room:?}"
        );
    }
}
