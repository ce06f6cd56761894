//! What a step is worth.

use mimosa_units::{Rate, TimeDelta};

use crate::outcome::Outcome;

/// Weights of a step's reward: *rate* times the share of the flow's highest bitrate that frames in
/// time had, less *late* for each late frame, less *delay* times their mean delay in deadlines.
///
/// There is no source; the deadline is that of the valid bitrate of the Pudica paper, section 5.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rewards {
    /// Worth of a bitrate at the flow's highest target.
    pub rate: f64,
    /// Cost of a frame that is late, or that never comes.
    pub late: f64,
    /// Cost of a delay of one deadline.
    pub delay: f64,
    /// The frame delay above which a frame is late.
    pub deadline: TimeDelta,
}

impl Default for Rewards {
    fn default() -> Self {
        Self {
            rate: 1.0,
            late: 1.0,
            delay: 0.1,
            deadline: TimeDelta::from_millis(50),
        }
    }
}

impl Rewards {
    /// What a step with this outcome is worth to a flow whose highest bitrate is `highest` and which has a frame in
    /// each `interval`.
    pub(crate) fn of(&self, outcome: &Outcome, highest: Rate, interval: TimeDelta) -> f64 {
        let rate = Rate::of(outcome.in_time, interval).ratio(highest);
        let delay = if outcome.acknowledged == 0 {
            0.0
        } else {
            outcome.delay.ratio(self.deadline) / f64::from(outcome.acknowledged)
        };
        self.rate * rate - self.late * f64::from(outcome.late) - self.delay * delay
    }
}
