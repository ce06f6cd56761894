//! Decides how long a lost packet of a frame is sent again.
//!
//! *Source:* our own; the C3G paper, section V, has a fixed deadline of 30 ms.
//!
//! A lost packet damages its frame and every later frame that refers to it. Two things make
//! pictures whole again: the packet once more, which leaves at once, or the next frame, coded
//! without reference to damaged frames, which leaves within an interval and takes as long to send
//! as any frame. So a retransmission is sooner, however old the frame is, unless the data to send
//! again takes longer to send than a frame: after an outage, whose frames nobody wants to see one
//! after the other. That is the rule of [`RetransmissionDeadline::Chain`]: when there is more to
//! send again than a frame has at the target bitrate, the oldest frame among the lost packets
//! counts as broken, and packets of the frames that refer to it are not sent again either.
//!
//! *Deviations.* With a fixed deadline of 30 ms and frames that are spread over their interval
//! of 16 ms, a round trip of 20 ms makes every retransmission too late.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::TimeDelta;

/// How long a lost packet of a frame is sent again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetransmissionDeadline {
    /// A lost packet is sent again while its frame is younger than this; zero for never.
    Age(TimeDelta),
    /// A lost packet is sent again while later frames refer to its frame, and while all lost
    /// packets take no longer to send than a frame.
    Chain,
}

impl RetransmissionDeadline {
    /// Whether a frame of this age is too old for retransmissions.
    pub(crate) fn is_past(self, age: TimeDelta) -> bool {
        match self {
            Self::Age(deadline) => age >= deadline,
            Self::Chain => false,
        }
    }
}

/// Frames whose packets are not sent again: broken frames, and those coded before the sender knew.
#[derive(Debug, Default)]
pub(crate) struct Outdated {
    /// Ranges of frames, each from the first number up to the second, exclusive.
    ranges: VecDeque<(FrameId, FrameId)>,
}

impl Outdated {
    /// Adds the range from the broken `frame` up to `next`, the next frame that does not refer to
    /// it. Ranges before `oldest` are forgotten.
    pub(crate) fn add(&mut self, frame: FrameId, next: FrameId, oldest: FrameId) {
        self.ranges.retain(|(_, end)| *end > oldest);
        self.ranges.push_back((frame, next));
    }

    /// Whether the packets of `frame` are not sent again.
    pub(crate) fn has(&self, frame: FrameId) -> bool {
        let is_in = |&(from, to): &(FrameId, FrameId)| from <= frame && frame < to;
        self.ranges.iter().any(is_in)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_forgotten_with_their_frames() {
        let mut outdated = Outdated::default();
        outdated.add(FrameId(5), FrameId(8), FrameId(0));
        outdated.add(FrameId(9), FrameId(10), FrameId(4));
        let all: Vec<_> = (0..12).filter(|&id| outdated.has(FrameId(id))).collect();
        assert_eq!(all, [5, 6, 7, 9]);
        outdated.add(FrameId(20), FrameId(21), FrameId(8));
        assert_eq!(outdated.ranges.len(), 2);
        assert!(!outdated.has(FrameId(6)) && outdated.has(FrameId(9)));
    }
}
