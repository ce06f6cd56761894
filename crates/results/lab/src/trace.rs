//! A run over time, as drawings and claims need it.

use mimosa_facts::{Fate, FrameLife, Observer, Passage, StreamPacket};
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Time between values of the link.
pub(crate) const STEP: TimeDelta = TimeDelta::from_millis(100);
/// Time between comparisons of the estimated and the true utilisation.
const ROUND: TimeDelta = TimeDelta::from_millis(1_000);
/// Age up to which a frame on its way has no known delay.
const YOUNG: TimeDelta = TimeDelta::from_millis(200);

/// A run over time, in integers.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Trace {
    /// Video flows whose rate can change, in the order of the scenario.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<FlowTrace>,
    /// Rate that the link served in each tenth of a second, in kbit/s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub served_kbps: Vec<u64>,
    /// Capacity of the link in each tenth of a second, in kbit/s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub capacity_kbps: Vec<u64>,
    /// Rate of TCP flows that arrived in each tenth of a second, in kbit/s; empty without TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp_kbps: Vec<u64>,
    /// What the packets of video flows met in each second, by when they were offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub video: Vec<Met>,
    /// What the packets of TCP flows met in each second; empty without TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp: Vec<Met>,
    /// Estimates of the link's utilisation, with the utilisation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
}

/// The frames of one flow in their order. Each list has an entry for each frame, except
/// `arrived_kbps`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FlowTrace {
    /// The flow's name in the scenario.
    pub name: String,
    /// Frame interval in microseconds.
    pub interval_us: u64,
    /// Time of each frame's hand-over, in microseconds.
    pub at_us: Vec<u64>,
    /// Size of each frame over the frame interval, in kbit/s.
    pub kbps: Vec<u64>,
    /// Delay of each frame, in microseconds; `None` for one that never completed.
    pub delay_us: Vec<Option<u64>>,
    /// Rate of the flow that arrived in each tenth of a second, in kbit/s.
    pub arrived_kbps: Vec<u64>,
}

/// Waits that packets are counted above, in milliseconds: those of the study of HTB and L4S (P. Graff et
/// al., Table II).
pub(crate) const WAITS_MS: [u64; 4] = [10, 20, 50, 100];

/// What the packets of a class of flows met, of those that were offered in one second.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Met {
    /// Number of packets whose last bit left the last link.
    pub packets: u64,
    /// Sum of these packets' waits, in microseconds: from a packet's offer to its first bit on the last
    /// link.
    pub waited_us: u64,
    /// Sum of the squares of these waits, in square microseconds.
    pub squares_us2: u64,
    /// Number of waits above 10, 20, 50 and 100 ms.
    pub above: [u64; 4],
    /// Number of packets that a queue dropped, or that were lost behind it.
    pub lost: u64,
}

impl Met {
    fn packet(&mut self, record: &Passage<StreamPacket>) {
        self.lost += u64::from(record.fate.arrival().is_none());
        let Some(started) = record.started else {
            return;
        };
        let us = started.since(record.offered).as_nanos().unsigned_abs() / 1000;
        self.packets += 1;
        self.waited_us += us;
        self.squares_us2 = self.squares_us2.saturating_add(us.saturating_mul(us));
        for (count, above) in self.above.iter_mut().zip(WAITS_MS) {
            *count += u64::from(us > above * 1000);
        }
    }
}

/// One second of a run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Round {
    /// Number of the second in the run.
    pub second: u64,
    /// Utilisation of the link, in thousandths.
    pub used: u64,
    /// Smoothed estimate of the first flow that has one, at the end of the second, in thousandths.
    pub estimated: u64,
}

/// What is kept of a run.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Kept {
    /// Whether frames and the link's rates are kept.
    pub(crate) frames: bool,
    /// Whether [`Round`]s are kept.
    pub(crate) rounds: bool,
}

/// A frame, as it is kept.
struct Frame {
    at: Time,
    rate: Rate,
    interval: TimeDelta,
    delay: Option<TimeDelta>,
}

/// A flow, as far as it is watched.
struct Watched {
    /// Frames of the flow; `None` if they are not kept.
    frames: Option<Vec<Frame>>,
    arrived: Vec<Bytes>,
    is_tcp: bool,
    is_video: bool,
}

/// Collects a [`Trace`].
pub(crate) struct Tracer {
    kept: Kept,
    end: Time,
    /// The flows, in the order of the scenario.
    flows: Vec<Watched>,
    served: Vec<Bytes>,
    /// What packets of video and of TCP met in each second.
    video: Vec<Met>,
    tcp: Vec<Met>,
    /// Time and value of the newest estimate in each round.
    estimates: Vec<Option<(Time, f64)>>,
}

impl Tracer {
    pub(crate) fn new(scenario: &Scenario, kept: Kept) -> Self {
        let end = Time::ZERO + scenario.duration;
        let is_traced = |kind: &FlowKind| match kind {
            FlowKind::Video(video) => video.controller != "fixed",
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => false,
        };
        let watched = |flow: &FlowConfig| Watched {
            frames: is_traced(&flow.kind).then(Vec::new),
            arrived: vec![Bytes::ZERO; parts(end, STEP)],
            is_tcp: matches!(flow.kind, FlowKind::Tcp(_)),
            is_video: matches!(flow.kind, FlowKind::Video(_)),
        };
        Self {
            kept,
            end,
            flows: scenario.flows.iter().map(watched).collect(),
            served: vec![Bytes::ZERO; parts(end, STEP)],
            video: vec![Met::default(); parts(end, ROUND)],
            tcp: vec![Met::default(); parts(end, ROUND)],
            estimates: vec![None; parts(end, ROUND)],
        }
    }

    pub(crate) fn trace(self, scenario: &Scenario) -> Trace {
        let schedule = &scenario.link.schedule;
        let capacity = |index: usize, length: TimeDelta| {
            let from = Time::ZERO + length.scale(index as f64);
            schedule.capacity(from, from + length)
        };
        let rounds = self.estimates.iter().enumerate();
        let rounds = rounds.filter_map(|(index, estimate)| {
            let per_round = parts(Time::ZERO + ROUND, STEP);
            let served = self
                .served
                .get(index * per_round..(index + 1) * per_round)?;
            let served: u64 = served.iter().map(|bytes| bytes.get()).sum();
            let could = capacity(index, ROUND).get();
            Some(Round {
                second: index as u64,
                used: thousandths(served as f64 / could as f64)?,
                estimated: thousandths(estimate.as_ref()?.1)?,
            })
        });
        let rounds = if self.kept.rounds {
            rounds.collect()
        } else {
            Vec::new()
        };
        if !self.kept.frames {
            return Trace {
                rounds,
                ..Trace::default()
            };
        }
        let mut tcp = vec![0; self.served.len()];
        for flow in self.flows.iter().filter(|flow| flow.is_tcp) {
            for (sum, arrived) in tcp.iter_mut().zip(&flow.arrived) {
                *sum += kbps(*arrived);
            }
        }
        let has_tcp = self.flows.iter().any(|flow| flow.is_tcp);
        let has_video = self.flows.iter().any(|flow| flow.is_video);
        let names = scenario.flows.iter().map(|flow| &flow.name);
        let flows = names.zip(self.flows);
        Trace {
            served_kbps: self.served.iter().copied().map(kbps).collect(),
            capacity_kbps: (0..self.served.len())
                .map(|index| kbps(capacity(index, STEP)))
                .collect(),
            tcp_kbps: tcp.into_iter().filter(|_| has_tcp).collect(),
            video: self.video.into_iter().filter(|_| has_video).collect(),
            tcp: self.tcp.into_iter().filter(|_| has_tcp).collect(),
            rounds,
            flows: flows
                .filter_map(|(name, flow)| flow_trace(name, flow))
                .collect(),
        }
    }
}

fn kbps(amount: Bytes) -> u64 {
    Rate::of(amount, STEP).as_bps() / 1000
}

fn flow_trace(name: &str, flow: Watched) -> Option<FlowTrace> {
    let mut frames = flow.frames?;
    frames.sort_by_key(|frame| frame.at);
    let micros = |delay: TimeDelta| delay.as_nanos().unsigned_abs() / 1000;
    Some(FlowTrace {
        name: name.to_owned(),
        interval_us: frames.first().map_or(0, |frame| micros(frame.interval)),
        at_us: frames.iter().map(|f| f.at.as_nanos() / 1000).collect(),
        kbps: frames.iter().map(|f| f.rate.as_bps() / 1000).collect(),
        delay_us: frames.iter().map(|f| f.delay.map(micros)).collect(),
        arrived_kbps: flow.arrived.into_iter().map(kbps).collect(),
    })
}

/// Number of whole intervals of this length until `end`.
fn parts(end: Time, length: TimeDelta) -> usize {
    usize::try_from(end.as_nanos() / length.as_nanos().unsigned_abs()).unwrap_or(0)
}

/// Index of the interval of this length that contains `at`.
fn part(at: Time, length: TimeDelta) -> usize {
    usize::try_from(at.as_nanos() / length.as_nanos().unsigned_abs()).unwrap_or(usize::MAX)
}

/// A share in thousandths; `None` unless it is from 0 up to 10^6.
fn thousandths(share: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the range that was asked for"
    )]
    (0.0..1e6)
        .contains(&share)
        .then(|| (share * 1e3).round() as u64)
}

impl Observer for Tracer {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let frames = self.flows.get_mut(flow);
        let Some(frames) = frames.and_then(|flow| flow.frames.as_mut()) else {
            return;
        };
        if life.end.is_none() && self.end.since(life.handed_over) <= YOUNG {
            return;
        }
        frames.push(Frame {
            at: life.handed_over,
            rate: Rate::of(life.size, life.interval),
            interval: life.interval,
            delay: life.delay(),
        });
        let round = self.estimates.get_mut(part(life.handed_over, ROUND));
        if let Some(estimate) = life.decision.evidence.smoothed_utilization
            && let Some(newest) = round
            && newest.is_none_or(|(at, _)| at <= life.handed_over)
        {
            *newest = Some((life.handed_over, estimate));
        }
    }

    fn packet(&mut self, record: &Passage<StreamPacket>) {
        if let Some(finished) = record.finished
            && let Some(served) = self.served.get_mut(part(finished, STEP))
        {
            *served += record.size;
        }
        let Some(flow) = self.flows.get_mut(record.packet.flow) else {
            return;
        };
        let second = part(record.offered, ROUND);
        let met = if flow.is_tcp {
            self.tcp.get_mut(second)
        } else {
            self.video.get_mut(second).filter(|_| flow.is_video)
        };
        if let Some(met) = met {
            met.packet(record);
        }
        if let Fate::Arrived(at) = record.fate
            && let Some(arrived) = flow.arrived.get_mut(part(at, STEP))
        {
            *arrived += record.size;
        }
    }
}
