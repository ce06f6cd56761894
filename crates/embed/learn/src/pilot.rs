//! The controllers that do what a learner or a policy says.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mimosa_facts::{Cause, Controller, Decision, Event, Limits, Pacing};
use mimosa_units::{Rate, Time, TimeDelta};

use crate::observation::{Observation, Watch};

/// What a learner decides for a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// Target bitrate in Mbit/s; it is brought within the flow's limits, and what is no number is
    /// the lowest.
    pub target_mbps: f64,
    /// Size limit of the frame, as a multiple of the target's share of a frame; zero or less skips
    /// the frame.
    pub limit: f64,
    /// How much faster than the frame's interval its packets leave: with 2 they are spread over half
    /// of it. Below 1 counts as 1.
    pub pace: f64,
}

/// The decision by which `action` is carried out; the rest is that of `before`.
fn decided(action: Action, limits: Limits, interval: TimeDelta, before: Decision) -> Decision {
    let target = target(action, limits);
    let share = target.amount_in(interval);
    Decision {
        target,
        frame_limit: Some(share.scale(action.limit.max(0.0))),
        pacing: Pacing::Spread {
            over: interval.scale(1.0 / action.pace.max(1.0)),
            lead: 0,
        },
        cause: Cause::External,
        ..before
    }
}

/// A controller whose decisions a policy makes, once for each frame: it is asked with what is known
/// when the frame is due.
pub struct Steered<P> {
    policy: P,
    watch: Watch,
    limits: Limits,
    decision: Decision,
}

impl<P: FnMut(&Observation) -> Action> Steered<P> {
    /// A controller within these limits that does what `policy` says.
    pub fn new(limits: Limits, policy: P) -> Self {
        Self {
            policy,
            watch: Watch::default(),
            limits,
            decision: Decision::starting_at(limits.start()),
        }
    }
}

impl<P> std::fmt::Debug for Steered<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Steered")
            .field("decision", &self.decision)
            .finish_non_exhaustive()
    }
}

impl<P: FnMut(&Observation) -> Action + Send> Controller for Steered<P> {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        self.watch.event(now, &event);
        if let Event::FrameDue { interval, .. } = event {
            let known = self.watch.take(now, self.decision.target, interval);
            let action = (self.policy)(&known);
            self.decision = decided(action, self.limits, interval, self.decision);
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

/// What the controller and the episode share.
#[derive(Debug)]
struct Shared {
    watch: Watch,
    action: Action,
}

/// The episode's hold on the controller.
#[derive(Clone, Debug)]
pub(crate) struct Stick(Arc<Mutex<Shared>>);

impl Stick {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The observation at `now`, under the target of the action before.
    pub(crate) fn observe(&self, now: Time, limits: Limits, interval: TimeDelta) -> Observation {
        let mut shared = self.lock();
        let target = target(shared.action, limits);
        shared.watch.take(now, target, interval)
    }

    /// Sets what the next frame gets.
    pub(crate) fn act(&self, action: Action) {
        self.lock().action = action;
    }
}

/// The target of an action.
fn target(action: Action, limits: Limits) -> Rate {
    limits.clamp(Rate::from_mbps(action.target_mbps.max(0.0)))
}

/// The controller.
#[derive(Debug)]
pub(crate) struct Pilot {
    stick: Stick,
    limits: Limits,
    decision: Decision,
}

impl Pilot {
    /// A controller within these limits, and the hold on it.
    pub(crate) fn new(limits: Limits) -> (Self, Stick) {
        let start = limits.start();
        let stick = Stick(Arc::new(Mutex::new(Shared {
            watch: Watch::default(),
            action: Action {
                target_mbps: start.as_mbps(),
                limit: 1.0,
                pace: 1.0,
            },
        })));
        let pilot = Self {
            stick: stick.clone(),
            limits,
            decision: Decision::starting_at(start),
        };
        (pilot, stick)
    }
}

impl Controller for Pilot {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        let mut shared = self.stick.lock();
        shared.watch.event(now, &event);
        if let Event::FrameDue { interval, .. } = event {
            self.decision = decided(shared.action, self.limits, interval, self.decision);
        }
        drop(shared);
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
