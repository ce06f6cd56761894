//! How long after its capture a picture is shown.
//!
//! The time from a picture's capture to its being ready is known up to the offset between the clocks of
//! host and client; its differences are the jitter of network, encoder and decoder. Pictures are due a
//! fixed time after their capture, the *target*, so that they are as far apart on the screen as they were
//! in the game. The rules that move the target:
//!
//! - A picture that missed its refresh raises the target at once, to what this picture needed.
//! - A target above the quantile of the last seconds sinks slowly towards it.
//! - A picture that is later than a hold can be is no jitter but a pause of the link: neither it nor those
//!   that waited behind it move the target. A pause that does not end has changed the path, and the target
//!   begins anew.
//! - The target is at most one refresh, less the time between decision and refresh, above the earliest
//!   picture of the last seconds. With that time and the wait for the next refresh, no picture is held for
//!   more than two.

use std::collections::VecDeque;

use mimosa_units::{PeerTime, Time, TimeDelta};

use super::PresentationConfig;

/// The target, and what it is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Hold {
    /// When each picture of the window was ready, and its time since the capture.
    delays: VecDeque<(Time, TimeDelta)>,
    target: Option<TimeDelta>,
    newest: Time,
    /// When the present pause's first picture came.
    pause: Option<Time>,
}

impl Hold {
    /// The time from the capture to when a picture is due.
    pub(super) fn target(&self) -> Option<TimeDelta> {
        self.target
    }

    /// Takes a picture. `misses` says whether a picture that is ready at its `Time` misses its refresh if
    /// it is due after the `TimeDelta`. `lead` is the time between the decision and the refresh.
    pub(super) fn ready(
        &mut self,
        config: &PresentationConfig,
        (at, captured): (Time, PeerTime),
        [interval, lead]: [TimeDelta; 2],
        misses: impl Fn(TimeDelta) -> bool,
    ) {
        let delay = -(captured - at);
        let passed = at.since(self.newest);
        self.newest = at;
        let Some(target) = self.target else {
            return self.begin(at, delay);
        };
        let late = delay - target;
        if late <= TimeDelta::ZERO {
            self.pause = None;
        } else if late > interval {
            self.pause.get_or_insert(at);
        }
        if let Some(begun) = self.pause {
            if at.since(begun) > config.longest_pause {
                self.begin(at, delay);
            }
            return;
        }
        self.delays.push_back((at, delay));
        let is_old = |(old, _): &mut (Time, TimeDelta)| at.since(*old) > config.window;
        while self.delays.pop_front_if(is_old).is_some() {}
        let target = if late > TimeDelta::ZERO && misses(target) {
            delay
        } else {
            self.lowered(config, target, passed)
        };
        let least = self.delays.iter().map(|(_, delay)| *delay).min();
        self.target = Some(target.min(least.unwrap_or(delay) + interval - lead));
    }

    fn begin(&mut self, at: Time, delay: TimeDelta) {
        self.delays.clear();
        self.delays.push_back((at, delay));
        self.target = Some(delay);
        self.pause = None;
    }

    /// The target after `passed` without a miss.
    fn lowered(
        &self,
        config: &PresentationConfig,
        target: TimeDelta,
        passed: TimeDelta,
    ) -> TimeDelta {
        let mut sorted: Vec<_> = self.delays.iter().map(|(_, delay)| *delay).collect();
        let at = (sorted.len() - 1) * config.percentile / 100;
        let (_, quantile, _) = sorted.select_nth_unstable(at);
        let step = TimeDelta::from_secs(passed.as_secs() * config.lowering);
        (target - step).max(target.min(*quantile))
    }
}
