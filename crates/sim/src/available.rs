//! What of the link is a flow's own to use, for the oracle.

use mimosa_net::Schedule;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::scenario::{FlowConfig, FlowKind, Scenario};

/// The link's rate less the cross traffic of constant rate, in equal parts to the video
/// flows that are there. TCP flows are not known in advance and count as none.
#[derive(Clone, Debug)]
pub(crate) struct Available {
    schedule: Schedule,
    /// The other flows, and this one.
    flows: Vec<FlowConfig>,
    /// How long it takes until the flow may know.
    pub(crate) age: TimeDelta,
}

impl Available {
    /// To the flow with this number; `None` for one without feedback.
    #[must_use]
    pub(crate) fn to(scenario: &Scenario, flow: usize) -> Option<Self> {
        let own = scenario.flows.get(flow)?;
        let FlowKind::Video(video) = &own.kind else {
            return None;
        };
        Some(Self {
            schedule: scenario.link.schedule.clone(),
            flows: scenario.flows.clone(),
            age: own.forward.delay + video.reverse.delay,
        })
    }

    /// What was available at `at`.
    pub(crate) fn at(&self, at: Time) -> Rate {
        let until = at + TimeDelta::from_nanos(1);
        let link = self.schedule.steps(at, until).next();
        self.share(link.map_or(Rate::ZERO, |(_, rate)| rate), at)
    }

    /// What was available on the mean between two moments, with the other flows as they
    /// were at the second.
    pub(crate) fn mean(&self, from: Time, to: Time) -> Rate {
        if to <= from {
            return self.at(to);
        }
        let carried = self.schedule.capacity(from, to);
        self.share(Rate::of(carried, to.since(from)), to)
    }

    /// A flow's part of so much of the link.
    fn share(&self, link: Rate, at: Time) -> Rate {
        let mut free = link.as_bps();
        let mut streams = 0;
        for flow in &self.flows {
            // One that pauses takes nothing.
            if flow.active_from(at) != Some(at) {
                continue;
            }
            match &flow.kind {
                FlowKind::Video(_) => streams += 1,
                FlowKind::Cbr(cbr) => free = free.saturating_sub(cbr.rate.as_bps()),
                FlowKind::Tcp(_) => {}
            }
        }
        Rate::from_bps(free / streams.max(1))
    }
}
