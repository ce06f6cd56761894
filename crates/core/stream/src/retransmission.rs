//! Until when a lost packet is sent again.
//!
//! *Source:* our own; the C3G paper, section V, has a fixed deadline of 30 ms.
//!
//! What is lost of a frame lacks in every frame after it that refers to it. Two things make
//! pictures whole again: the packet once more, which leaves at once, or the next frame, coded
//! without reference to what is not whole, which leaves within an interval and takes as long
//! to send as any frame. So sending again is sooner, however old the frame is, unless what
//! has to be sent again takes longer than a frame does: after an outage, of which nobody
//! wants to see the frames one after the other. That is the rule of
//! [`RetransmissionDeadline::Chain`]: with more to send again than a frame has at the target,
//! the oldest frame it is of counts as broken, and what refers to that one is not sent again
//! either.
//!
//! *Deviations.* With a fixed deadline of 30 ms and frames that are spread over their interval
//! of 16 ms, a round trip of 20 ms makes every retransmission too late.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::TimeDelta;

/// Until when a lost packet is sent again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetransmissionDeadline {
    /// While its frame is younger than this; zero for never.
    Age(TimeDelta),
    /// While frames refer to its own, and it takes no longer to send than a frame.
    Chain,
}

impl RetransmissionDeadline {
    /// A frame of this age is too old.
    pub(crate) fn is_past(self, age: TimeDelta) -> bool {
        match self {
            Self::Age(deadline) => age >= deadline,
            Self::Chain => false,
        }
    }
}

/// Frames that nobody waits for: the broken ones, and those coded before that was known.
#[derive(Debug, Default)]
pub(crate) struct Outdated {
    /// From the first, up to the second.
    ranges: VecDeque<(FrameId, FrameId)>,
}

impl Outdated {
    /// `frame` is broken, and the next that can do without it is `next`. What is before
    /// `oldest` need not be remembered.
    pub(crate) fn add(&mut self, frame: FrameId, next: FrameId, oldest: FrameId) {
        self.ranges.retain(|(_, end)| *end > oldest);
        self.ranges.push_back((frame, next));
    }

    /// Whether nobody waits for it.
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
