//! What becomes of a flow's frames between two steps.

use mimosa_facts::{FrameLife, Observer};
use mimosa_units::{Bytes, TimeDelta};

/// What became of the frames whose life ended during a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Frames that were acknowledged or given up.
    pub frames: u32,
    /// Frames among these that took longer than the deadline of [`Rewards`](crate::Rewards), or were given up.
    pub late: u32,
    /// Size of all packets of the frames in time, in bytes.
    pub in_time: Bytes,
    /// The sum of the delays of the frames that were acknowledged.
    pub delay: TimeDelta,
    /// Frames that were acknowledged.
    pub acknowledged: u32,
}

/// Gathers what becomes of a flow's frames.
#[derive(Debug)]
pub(crate) struct Ended {
    flow: usize,
    deadline: TimeDelta,
    outcome: Outcome,
}

impl Ended {
    /// Gathers the frames of the flow with this number; those above `deadline` are late.
    pub(crate) fn of(flow: usize, deadline: TimeDelta) -> Self {
        Self {
            flow,
            deadline,
            outcome: Outcome::default(),
        }
    }

    /// What became of frames since the last call.
    pub(crate) fn take(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }
}

impl Observer for Ended {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        if flow != self.flow || life.end.is_none() {
            return;
        }
        let outcome = &mut self.outcome;
        outcome.frames += 1;
        let delay = life.delay();
        if let Some(delay) = delay {
            outcome.acknowledged += 1;
            outcome.delay += delay;
        }
        if delay.is_some_and(|delay| delay <= self.deadline) {
            outcome.in_time += life.size;
        } else {
            outcome.late += 1;
        }
    }
}
