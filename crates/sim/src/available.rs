//! What of the link is a flow's own to use, for the oracle.

use mimosa_net::Schedule;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::scenario::{FlowKind, Scenario};

/// The link's rate less the cross traffic of constant rate, in equal parts to the video
/// flows that are there. TCP flows are not known in advance and count as none.
#[derive(Clone, Debug)]
pub(crate) struct Available {
    schedule: Schedule,
    /// From when, until when, how much.
    taken: Vec<(Time, Time, Rate)>,
    /// When each video flow is there.
    streams: Vec<(Time, Time)>,
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
        let mut available = Self {
            schedule: scenario.link.schedule.clone(),
            taken: Vec::new(),
            streams: Vec::new(),
            age: own.forward.delay + video.reverse.delay,
        };
        for flow in &scenario.flows {
            match &flow.kind {
                FlowKind::Video(_) => available.streams.push((flow.start, flow.stop)),
                FlowKind::Cbr(cbr) => available.taken.push((flow.start, flow.stop, cbr.rate)),
                FlowKind::Tcp(_) => {}
            }
        }
        Some(available)
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
        let is_there = |(from, to): (Time, Time)| from <= at && at < to;
        let taken = self
            .taken
            .iter()
            .filter(|taken| is_there((taken.0, taken.1)));
        let free = taken.fold(link, |free, taken| {
            Rate::from_bps(free.as_bps().saturating_sub(taken.2.as_bps()))
        });
        let streams = self
            .streams
            .iter()
            .filter(|times| is_there(**times))
            .count();
        Rate::from_bps(free.as_bps() / streams.max(1) as u64)
    }
}
