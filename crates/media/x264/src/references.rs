//! The frames that the next frame may refer to.

use std::collections::VecDeque;

use mimosa_facts::FrameId;

use crate::parameter_set::FRAME_NUMBERS;

/// A frame that libx264 can refer to.
#[derive(Clone, Copy, Debug)]
struct ReferenceFrame {
    pts: i64,
    /// The number of frames since the keyframe.
    number: u64,
    /// The frame's number in the stream; `None` for a rejected attempt.
    frame: Option<FrameId>,
}

/// The frames that libx264 can refer to, in the order of encoding. A keyframe drops all
/// before it, and beyond the limit the oldest frame goes.
#[derive(Clone, Debug)]
pub(crate) struct References {
    most: usize,
    kept: VecDeque<ReferenceFrame>,
    next: i64,
    /// The number of frames since the keyframe, which is the next frame's number unless
    /// that is a keyframe.
    number: u64,
}

impl References {
    pub(crate) const fn new(most: usize) -> Self {
        Self {
            most,
            kept: VecDeque::new(),
            next: 0,
            number: 0,
        }
    }

    /// The number of the next picture that libx264 gets.
    pub(crate) const fn next(&self) -> i64 {
        self.next
    }

    /// The number that the next frame has after the keyframe, unless it is one itself;
    /// rejected attempts count.
    pub(crate) const fn number(&self) -> u64 {
        self.number
    }

    /// Records that libx264 encoded picture `next()`.
    pub(crate) fn encoded(&mut self, frame: FrameId, is_keyframe: bool) {
        if is_keyframe {
            self.kept.clear();
            self.number = 0;
        }
        self.kept.push_back(ReferenceFrame {
            pts: self.next,
            number: self.number,
            frame: Some(frame),
        });
        if self.kept.len() > self.most {
            self.kept.pop_front();
        }
        self.next += 1;
        self.number += 1;
    }

    /// Rejects the last frame. Returns the number from which on libx264 must forget frames.
    pub(crate) fn reject(&mut self) -> Option<i64> {
        let last = self.kept.len().checked_sub(1)?;
        self.drop_from(last)
    }

    /// Drops `lost` and all later frames. Returns the number from which on libx264 must
    /// forget frames; `None` if there are none to forget.
    pub(crate) fn without(&mut self, lost: FrameId) -> Option<i64> {
        let hit = |kept: &ReferenceFrame| kept.frame.is_some_and(|frame| frame >= lost);
        let first = self.kept.iter().position(hit)?;
        self.drop_from(first)
    }

    /// Drops the frames from place `first` on. A gap in which the frame numbers wrap around
    /// would confuse libavcodec, so only a keyframe may follow such a gap.
    fn drop_from(&mut self, first: usize) -> Option<i64> {
        let begins_anew = |kept: &ReferenceFrame| kept.number.is_multiple_of(FRAME_NUMBERS);
        let spare = if self.kept.iter().skip(first).any(begins_anew) {
            0
        } else {
            first
        };
        for kept in self.kept.iter_mut().skip(spare) {
            kept.frame = None;
        }
        self.kept.get(first).map(|kept| kept.pts)
    }

    /// Whether a frame is left to refer to.
    pub(crate) fn any(&self) -> bool {
        self.kept.iter().any(|kept| kept.frame.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five frames numbered by tens, the first a keyframe, in four places.
    fn five() -> References {
        let mut references = References::new(4);
        for number in 0..5 {
            references.encoded(FrameId(number * 10), number == 0);
        }
        references
    }

    #[test]
    fn frames_before_the_lost_one_remain() {
        let mut references = five();
        assert_eq!(
            references.without(FrameId(25)),
            Some(3),
            "frame 30 is picture 3"
        );
        assert!(references.any(), "frames 10 and 20");
        assert_eq!(references.without(FrameId(20)), Some(2));
        assert!(references.any(), "frame 10");
        assert_eq!(references.without(FrameId(3)), Some(1));
        assert!(!references.any());
    }

    #[test]
    fn a_frame_never_encoded_takes_nothing_away() {
        let mut references = five();
        assert_eq!(references.without(FrameId(41)), None);
        assert!(references.any());
    }

    #[test]
    fn a_keyframe_drops_what_was_before() {
        let mut references = five();
        references.encoded(FrameId(50), true);
        assert_eq!(
            references.without(FrameId(40)),
            Some(5),
            "the keyframe is lost too"
        );
        assert!(!references.any());
    }

    #[test]
    fn a_rejected_attempt_is_no_reference() {
        let mut references = References::new(4);
        assert_eq!(references.reject(), None);
        references.encoded(FrameId(0), true);
        assert_eq!(references.reject(), Some(0));
        assert!(!references.any());
        assert_eq!(references.next(), 1);
    }

    #[test]
    fn a_rejected_attempt_takes_the_place_of_the_oldest() {
        let mut references = five();
        references.encoded(FrameId(50), false);
        assert_eq!(references.reject(), Some(5));
        references.encoded(FrameId(50), false);
        // The places hold frames 30 and 40, the attempt, and frame 50.
        let mut before = references.clone();
        assert_eq!(before.without(FrameId(40)), Some(4));
        assert!(before.any(), "frame 30");
        assert_eq!(references.without(FrameId(20)), Some(3));
        assert!(!references.any(), "frame 20 is not kept any more");
    }

    #[test]
    fn no_gap_hides_that_the_numbers_begin_anew() {
        let mut references = References::new(4);
        for number in 0..=FRAME_NUMBERS + 1 {
            references.encoded(FrameId(number), number == 0);
        }
        let mut after = references.clone();
        assert!(after.without(FrameId(FRAME_NUMBERS + 1)).is_some());
        assert!(after.any(), "the gap begins behind");
        assert!(references.without(FrameId(FRAME_NUMBERS)).is_some());
        assert!(!references.any(), "frame number zero is in the gap");
    }
}
