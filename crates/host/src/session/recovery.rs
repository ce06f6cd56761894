//! What the next frame has to do about frames that will never be whole.
//!
//! A browser puts frames of H.264 together by their RTP sequence numbers, and what
//! follows a gap only from a keyframe on. A frame of which nothing has left made no
//! gap: the next one has only to do without it.

use mimosa_control::FrameId;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::Recovery;

/// A browser asks for a keyframe again and again until one is there. One that came
/// out of the encoder less than this ago may still be on its way.
const KEYFRAME_UNDERWAY: TimeDelta = TimeDelta::from_millis(300);

/// Keeps in mind what is broken until a frame makes up for it.
#[derive(Debug)]
pub(crate) struct Repair {
    wanted: Recovery,
    keyframe: Option<(Time, FrameId)>,
}

impl Repair {
    /// The first frame is a keyframe.
    pub(crate) const fn new() -> Self {
        Self {
            wanted: Recovery::Keyframe,
            keyframe: None,
        }
    }

    /// A frame will never be whole; `has_left` when part of it is on its way.
    pub(crate) fn broken(&mut self, frame: FrameId, has_left: bool) {
        let before_keyframe = self.keyframe.is_some_and(|(_, newest)| frame < newest);
        if before_keyframe {
            return;
        }
        self.wanted = match self.wanted {
            Recovery::Keyframe => Recovery::Keyframe,
            _ if has_left => Recovery::Keyframe,
            Recovery::Without(earlier) => Recovery::Without(earlier.min(frame)),
            Recovery::None => Recovery::Without(frame),
        };
    }

    /// The browser wants a keyframe.
    pub(crate) fn keyframe_wanted(&mut self, now: Time) {
        let is_underway = self
            .keyframe
            .is_some_and(|(at, _)| now.since(at) < KEYFRAME_UNDERWAY);
        if !is_underway {
            self.wanted = Recovery::Keyframe;
        }
    }

    /// What to ask the encoder for now; it is asked once.
    pub(crate) fn take(&mut self) -> Recovery {
        std::mem::take(&mut self.wanted)
    }

    /// A frame is there.
    pub(crate) fn encoded(&mut self, now: Time, frame: FrameId, is_keyframe: bool) {
        if is_keyframe {
            self.keyframe = Some((now, frame));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);

    #[test]
    fn a_frame_that_never_left_is_done_without() {
        let mut repair = Repair::new();
        assert_eq!(repair.take(), Recovery::Keyframe, "the first");
        repair.encoded(Time::ZERO, FrameId(0), true);
        assert_eq!(repair.take(), Recovery::None);
        repair.broken(FrameId(5), false);
        repair.broken(FrameId(4), false);
        assert_eq!(repair.take(), Recovery::Without(FrameId(4)));
        repair.broken(FrameId(6), false);
        repair.broken(FrameId(7), true);
        assert_eq!(repair.take(), Recovery::Keyframe);
    }

    #[test]
    fn a_keyframe_makes_up_for_all_before_it() {
        let mut repair = Repair::new();
        let _ = repair.take();
        repair.encoded(Time::ZERO, FrameId(9), true);
        repair.broken(FrameId(8), true);
        assert_eq!(repair.take(), Recovery::None);
    }

    #[test]
    fn a_keyframe_underway_is_not_asked_for_again() {
        let mut repair = Repair::new();
        let start = Time::from_secs(1);
        let _ = repair.take();
        repair.encoded(start, FrameId(0), true);
        repair.keyframe_wanted(start + MS * 100);
        assert_eq!(repair.take(), Recovery::None);
        repair.keyframe_wanted(start + MS * 400);
        assert_eq!(repair.take(), Recovery::Keyframe);
    }
}
