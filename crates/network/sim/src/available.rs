//! The part of the links that a flow may use, which the oracle is told.

use mimosa_net::Schedule;
use mimosa_stream::FeedbackMode;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::video::ideal_size;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario, VideoConfig};

/// The rate available to a flow: the least over the links of its route. On each link it is the
/// link's rate, less the constant-rate flows, less the reports of the other direction's video flows
/// when these use their whole part, divided equally among the active video flows. TCP flows and
/// acknowledgements cannot be known in advance and count as nothing.
#[derive(Clone, Debug)]
pub(crate) struct Available {
    links: Vec<Shared>,
    /// Age at which the flow may learn the rate.
    pub(crate) age: TimeDelta,
}

/// A link, and all flows whose data pass it.
#[derive(Clone, Debug)]
struct Shared {
    schedule: Schedule,
    flows: Vec<FlowConfig>,
    /// Flows whose reports pass the link, with the links of their data.
    reporting: Vec<(FlowConfig, Vec<Self>)>,
}

impl Available {
    /// What is available to the flow with this number; `None` if it is not a video flow.
    #[must_use]
    pub(crate) fn to(scenario: &Scenario, flow: usize) -> Option<Self> {
        let own = scenario.flows.get(flow)?;
        let FlowKind::Video(video) = &own.kind else {
            return None;
        };
        let mut links = shared(scenario, own);
        for (link, number) in links.iter_mut().zip(&own.route.data) {
            let reporting = scenario.flows.iter();
            let reporting = reporting.filter(|flow| flow.route.reports.contains(number));
            link.reporting = reporting
                .map(|flow| (flow.clone(), shared(scenario, flow)))
                .collect();
        }
        Some(Self {
            links,
            age: own.forward.delay + video.reverse.delay,
        })
    }

    /// The rate available at `at`.
    pub(crate) fn at(&self, at: Time) -> Rate {
        self.least(|link| link.at(at))
    }

    /// The mean rate available between two times, with the other flows as they were at the second.
    pub(crate) fn mean(&self, from: Time, to: Time) -> Rate {
        if let [link] = self.links.as_slice() {
            return link.mean(from, to);
        }
        if to <= from {
            return self.at(to);
        }
        // In between, another link may be the slowest.
        let steps = |link: &Shared| link.schedule.steps(from, to).map(|(at, _)| at).collect();
        let mut times: Vec<Vec<Time>> = self.links.iter().map(steps).collect();
        times.push(vec![to]);
        let mut times = times.concat();
        times.sort_unstable();
        let bits: u128 = times
            .iter()
            .zip(times.iter().skip(1))
            .map(|(&at, until)| {
                let rate = self.least(|link| link.share(link.rate(at), to));
                let length = until.since(at).as_nanos().unsigned_abs();
                u128::from(rate.as_bps()) * u128::from(length)
            })
            .sum();
        let length = to.since(from).as_nanos().unsigned_abs();
        let mean = bits / u128::from(length.max(1));
        Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX))
    }

    fn least(&self, rate: impl Fn(&Shared) -> Rate) -> Rate {
        self.links.iter().map(rate).min().unwrap_or(Rate::ZERO)
    }
}

/// The links that a flow's data pass, without the reports on them.
fn shared(scenario: &Scenario, flow: &FlowConfig) -> Vec<Shared> {
    let links = scenario.links().enumerate();
    links
        .filter(|(number, _)| flow.route.data.contains(number))
        .map(|(number, link)| Shared {
            schedule: link.schedule.clone(),
            flows: scenario
                .flows
                .iter()
                .filter(|flow| flow.route.data.contains(&number))
                .cloned()
                .collect(),
            reporting: Vec::new(),
        })
        .collect()
}

/// The rate of the reports of a video flow of this rate, in the format of RFC 8888.
fn reports(video: &VideoConfig, rate: Rate) -> Rate {
    let fps = u64::from(video.fps);
    let frame = rate.as_bps() / 8 / fps;
    let packets = fps * frame.div_ceil(video.packet_size.get());
    let reports = match video.feedback {
        FeedbackMode::PerPacket => packets,
        FeedbackMode::OnRequest => fps,
        FeedbackMode::Every(interval) => {
            1_000_000_000_u64.div_ceil(interval.as_nanos().unsigned_abs().max(1))
        }
    };
    let each = ideal_size(packets.div_ceil(reports.max(1)));
    Rate::from_bps(reports * each.get() * 8)
}

impl Shared {
    fn at(&self, at: Time) -> Rate {
        self.share(self.rate(at), at)
    }

    /// The link's rate.
    fn rate(&self, at: Time) -> Rate {
        let until = at + TimeDelta::from_nanos(1);
        let step = self.schedule.steps(at, until).next();
        step.map_or(Rate::ZERO, |(_, rate)| rate)
    }

    fn mean(&self, from: Time, to: Time) -> Rate {
        if to <= from {
            return self.at(to);
        }
        let carried = self.schedule.capacity(from, to);
        self.share(Rate::of(carried, to.since(from)), to)
    }

    /// A flow's part of a link with the rate `link`.
    fn share(&self, link: Rate, at: Time) -> Rate {
        let mut free = link.as_bps();
        for (flow, links) in &self.reporting {
            let own = links.iter().map(|link| link.at(at)).min();
            if let FlowKind::Video(video) = &flow.kind
                && flow.active_from(at) == Some(at)
            {
                let own = own.unwrap_or(Rate::ZERO).min(video.limits.max());
                free = free.saturating_sub(reports(video, own).as_bps());
            }
        }
        let mut streams = 0;
        for flow in &self.flows {
            // A flow that pauses takes nothing.
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
