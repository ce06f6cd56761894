//! What the encoder has to do about frames that will never be whole.
//!
//! A browser assembles frames of H.264 by their RTP numbers. After a gap in those numbers, it
//! continues only from a keyframe, unless packets say what their frame refers to (the dependency
//! descriptor). With the descriptor, or when no packet of the broken frame has left and so there is
//! no gap, the next frame only has to avoid references to the broken one.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::Recovery;

/// Time after the encoding of a keyframe in which requests for one are ignored. The browser repeats
/// its request until a keyframe arrives, and that one may still be on its way.
const KEYFRAME_UNDERWAY: TimeDelta = TimeDelta::from_millis(300);
/// Time after a frame that avoids broken references in which a request for a keyframe means that
/// the browser could not decode it: three times the longest round trip on which games are playable.
const TRIAL: TimeDelta = TimeDelta::from_millis(300);
/// Number of frames remembered as possible references; an encoder keeps 16 at most.
const MOST: usize = 16;

/// Remembers what is broken until a frame makes up for it.
#[derive(Debug)]
pub(crate) struct Repair {
    /// Whether the browser continues after a gap in the RTP numbers.
    bears_gaps: bool,
    wanted: Recovery,
    keyframe: Option<(Time, FrameId)>,
    /// When a frame was last asked to avoid broken references across a gap.
    without: Option<Time>,
    /// Frames to which the encoder may refer, oldest first.
    chain: VecDeque<FrameId>,
}

impl Repair {
    /// The first frame is a keyframe.
    pub(crate) const fn new(bears_gaps: bool) -> Self {
        Self {
            bears_gaps,
            wanted: Recovery::Keyframe,
            keyframe: None,
            without: None,
            chain: VecDeque::new(),
        }
    }

    /// Notes that a frame will never be whole. `has_left` says whether any of its packets were
    /// sent.
    pub(crate) fn broken(&mut self, now: Time, frame: FrameId, has_left: bool) {
        let before_keyframe = self.keyframe.is_some_and(|(_, newest)| frame < newest);
        if before_keyframe {
            return;
        }
        self.wanted = match self.wanted {
            Recovery::Keyframe => Recovery::Keyframe,
            _ if has_left && !self.bears_gaps => Recovery::Keyframe,
            Recovery::Without(earlier) => Recovery::Without(earlier.min(frame)),
            Recovery::None => Recovery::Without(frame),
        };
        if has_left && self.bears_gaps {
            self.without = Some(now);
        }
    }

    /// Takes the browser's request for a keyframe.
    pub(crate) fn keyframe_wanted(&mut self, now: Time) {
        if self.without.take_if(|at| now.since(*at) < TRIAL).is_some() {
            tracing::info!("the browser does not go on after a gap: keyframes from now on");
            self.bears_gaps = false;
        }
        self.keyframe(now);
    }

    /// Asks for a keyframe, unless one is on its way.
    pub(crate) fn keyframe(&mut self, now: Time) {
        let is_underway = self
            .keyframe
            .is_some_and(|(at, _)| now.since(at) < KEYFRAME_UNDERWAY);
        if !is_underway {
            self.wanted = Recovery::Keyframe;
        }
    }

    /// Whether the next frame has to make up for something, which may take a keyframe.
    pub(crate) fn is_due(&self) -> bool {
        self.wanted != Recovery::None
    }

    /// Takes what the next frame has to do. Each need is handed out once.
    pub(crate) fn take(&mut self) -> Recovery {
        let wanted = std::mem::take(&mut self.wanted);
        if let Recovery::Without(lost) = wanted {
            self.chain.retain(|frame| *frame < lost);
        }
        wanted
    }

    /// Takes a frame from the encoder. Returns the frame to which it refers; `None` for a keyframe.
    pub(crate) fn encoded(
        &mut self,
        now: Time,
        frame: FrameId,
        is_keyframe: bool,
    ) -> Option<FrameId> {
        if is_keyframe {
            self.keyframe = Some((now, frame));
            self.chain.clear();
        }
        let reference = self.chain.back().copied();
        if self.chain.len() == MOST {
            self.chain.pop_front();
        }
        self.chain.push_back(frame);
        reference
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);
    const START: Time = Time::from_secs(1);

    /// A state in which frame 0, a keyframe, and frames 1 to 9 have been encoded.
    fn running(bears_gaps: bool) -> Repair {
        let mut repair = Repair::new(bears_gaps);
        assert_eq!(repair.take(), Recovery::Keyframe, "the first");
        for number in 0..10 {
            let reference = repair.encoded(START, FrameId(number), number == 0);
            assert_eq!(reference, number.checked_sub(1).map(FrameId));
        }
        assert_eq!(repair.take(), Recovery::None);
        repair
    }

    #[test]
    fn a_frame_that_never_left_is_done_without() {
        let mut repair = running(false);
        repair.broken(START, FrameId(8), false);
        repair.broken(START, FrameId(7), false);
        repair.broken(START, FrameId(9), false);
        assert_eq!(repair.take(), Recovery::Without(FrameId(7)));
        let reference = repair.encoded(START, FrameId(12), false);
        assert_eq!(
            reference,
            Some(FrameId(6)),
            "the newest before the broken one"
        );
        assert_eq!(repair.encoded(START, FrameId(13), false), Some(FrameId(12)));
        assert_eq!(repair.take(), Recovery::None);
    }

    #[test]
    fn a_gap_costs_a_keyframe_unless_the_browser_bears_it() {
        let mut repair = running(false);
        repair.broken(START, FrameId(8), true);
        repair.broken(START, FrameId(7), false);
        assert_eq!(repair.take(), Recovery::Keyframe);
        let mut repair = running(true);
        repair.broken(START, FrameId(8), true);
        assert_eq!(repair.take(), Recovery::Without(FrameId(8)));
        repair.keyframe_wanted(START + MS * 1_000);
        assert_eq!(repair.take(), Recovery::Keyframe, "of another cause");
        repair.broken(START + MS * 1_000, FrameId(9), true);
        assert_eq!(repair.take(), Recovery::Without(FrameId(9)));
        repair.keyframe_wanted(START + MS * 1_100);
        assert_eq!(repair.take(), Recovery::Keyframe, "it does not bear it");
        repair.broken(START + MS * 2_000, FrameId(9), true);
        assert_eq!(
            repair.take(),
            Recovery::Keyframe,
            "and is not asked to again"
        );
    }

    #[test]
    fn a_keyframe_makes_up_for_all_before_it() {
        let mut repair = running(false);
        repair.broken(START, FrameId(9), true);
        assert_eq!(repair.take(), Recovery::Keyframe);
        assert_eq!(repair.encoded(START, FrameId(10), true), None);
        repair.broken(START, FrameId(8), true);
        assert_eq!(repair.take(), Recovery::None);
        repair.broken(START, FrameId(10), true);
        assert_eq!(repair.take(), Recovery::Keyframe, "but not for itself");
    }

    #[test]
    fn a_keyframe_underway_is_not_asked_for_again() {
        let mut repair = running(false);
        repair.keyframe_wanted(START + MS * 100);
        assert_eq!(repair.take(), Recovery::None);
        repair.keyframe_wanted(START + MS * 400);
        assert_eq!(repair.take(), Recovery::Keyframe);
    }
}
