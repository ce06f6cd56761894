//! The figures of a run.
//!
//! Definitions follow the Pudica paper, section 5.1. *Frame delay* runs from
//! the hand-over to the pacer until the sender holds the acknowledgement of the
//! frame's last packet. A *stall* is a frame delay above a threshold; a frame
//! that never completes counts as stalled. *Valid bitrate* counts frames under
//! 50 ms. Percentiles are nearest ranks.

use hdrhistogram::Histogram;
use mimosa_facts::FrameLife;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::Serialize;

use crate::flow::SimPacket;
use crate::recovery::RecoveryOutcome;
use crate::simulation::Window;

/// A frame slower than this is worth nothing to a player (section 5.1).
const VALID: TimeDelta = TimeDelta::from_millis(50);
/// The paper's two stall thresholds.
const STALLS: [TimeDelta; 2] = [TimeDelta::from_millis(100), TimeDelta::from_millis(200)];
/// Queueing delays are told apart to three digits up to an hour.
const LONGEST_NANOS: u64 = 3_600_000_000_000;

/// The figures of one run. `None` where there was nothing to measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// One for each flow, in the order of the scenario.
    pub flows: Vec<FlowOutcome>,
    /// The first link.
    pub link: LinkOutcome,
    /// Jain's index over the video flows' throughput: 1 when all are equal. `None` when not
    /// all pass the same links.
    pub jain: Option<f64>,
    /// How often a part of the simulation acted.
    #[serde(skip)]
    pub steps: u64,
    /// Packets offered, arrived, lost and inside, over the whole run.
    #[serde(skip)]
    pub balance: Balance,
}

/// What became of every packet, each counted where it was seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Balance {
    /// Offered to a queue, reports included where they pass one.
    pub offered: u64,
    /// Arrived where they were to go.
    pub arrived: u64,
    /// Given up by a queue or lost on a path.
    pub lost: u64,
    /// Found in a queue, a serialiser or on a path at the end.
    pub inside: u64,
}

impl Balance {
    /// Whether every packet was delivered, dropped or still inside.
    #[must_use]
    pub const fn is_even(&self) -> bool {
        self.offered == self.arrived + self.lost + self.inside
    }
}

/// The figures of one flow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowOutcome {
    /// Its name in the scenario.
    pub name: String,
    /// `video`, `cbr` or `tcp`.
    pub kind: &'static str,
    /// The controller's name; that of the congestion control of a TCP flow.
    pub controller: Option<String>,
    /// Frames handed over.
    pub frames: u64,
    /// Delays of completed frames.
    pub frame_delay_ms: Option<FrameDelays>,
    /// Share of frames above 50 ms.
    pub stall_50ms: Option<f64>,
    /// Share of frames above 100 ms.
    pub stall_100ms: Option<f64>,
    /// Share of frames above 200 ms.
    pub stall_200ms: Option<f64>,
    /// Mean bitrate of the frames.
    pub bitrate_mbps: Option<f64>,
    /// The same, of the frames under 50 ms.
    pub valid_bitrate_mbps: Option<f64>,
    /// What arrived, headers and probes included.
    pub throughput_mbps: f64,
    /// Share of packets that were dropped or lost.
    pub loss_rate: Option<f64>,
    /// What was sent back, where reports have bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<FeedbackOutcome>,
    /// How frames fared against their deadline, where the scenario has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryOutcome>,
}

/// Reports that a receiver sent, lost ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FeedbackOutcome {
    /// How many datagrams.
    pub datagrams: u64,
    /// All of them together, with the headers of IPv4, UDP and SRTCP.
    pub bytes: u64,
}

/// Frame delays in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrameDelays {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The worst.
    pub max: f64,
}

/// The figures of the first link; packets are those of all flows, whichever links they pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkOutcome {
    /// Share of what could have passed that did.
    pub utilization: Option<f64>,
    /// Waiting in the queue, of packets that passed.
    pub queue_delay_ms: Option<QueueDelays>,
    /// Packets offered to a queue, but for reports.
    pub offered: u64,
    /// Those of them that arrived.
    pub delivered: u64,
    /// Those that were dropped, or lost on the path.
    pub dropped: u64,
    /// Those that were still inside when the run ended.
    pub left: u64,
}

/// Queueing delays in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct QueueDelays {
    /// Arithmetic mean.
    pub mean: f64,
    /// 95th percentile, to three digits.
    pub p95: f64,
    /// 99th percentile, to three digits.
    pub p99: f64,
    /// The worst.
    pub max: f64,
}

/// What is gathered of one flow while it runs.
#[derive(Debug, Default)]
struct FlowCount {
    /// Headers of each packet: no part of the bitrate.
    overhead: Bytes,
    frames: u64,
    size: Bytes,
    /// Frames whose delay is known, or known to be long.
    decided: u64,
    decided_size: Bytes,
    valid_size: Bytes,
    delays: Vec<TimeDelta>,
    stalls: [u64; 3],
    arrived: Bytes,
    sent: u64,
    lost: u64,
    feedback: Option<FeedbackOutcome>,
}

/// A packet as far as the figures are concerned.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// Its flow, counted from zero in the order of the scenario.
    pub flow: usize,
    /// Its size on the wire.
    pub size: Bytes,
    /// When it was offered to the queue.
    pub sent: Time,
}

impl From<&SimPacket> for Counted {
    fn from(packet: &SimPacket) -> Self {
        Self {
            flow: packet.flow as usize,
            size: packet.size,
            sent: packet.sent,
        }
    }
}

/// Gathers what happens within the window, in a simulated network or another one.
///
/// Of each packet it is told that it was sent, and what became of it. A flow that the
/// scenario does not have is an error of the caller's, and panics.
#[derive(Debug)]
pub struct Collector {
    window: Window,
    end: Time,
    flows: Vec<FlowCount>,
    balance: Balance,
    offered: u64,
    delivered: u64,
    dropped: u64,
    served: Bytes,
    /// `None` only if the histogram's own constants were refused.
    waits: Option<Histogram<u64>>,
    wait_sum: u64,
    wait_max: u64,
    wait_count: u64,
}

impl Collector {
    /// Nothing has happened yet; the run ends at `end`.
    #[must_use]
    pub fn new(window: Window, end: Time, flows: &[FlowConfig]) -> Self {
        let count = |flow: &FlowConfig| FlowCount {
            overhead: match &flow.kind {
                FlowKind::Video(video) => video.overhead,
                FlowKind::Cbr(_) | FlowKind::Tcp(_) => Bytes::ZERO,
            },
            ..FlowCount::default()
        };
        Self {
            window,
            end,
            flows: flows.iter().map(count).collect(),
            balance: Balance::default(),
            offered: 0,
            delivered: 0,
            dropped: 0,
            served: Bytes::ZERO,
            waits: Histogram::new_with_bounds(1, LONGEST_NANOS, 3).ok(),
            wait_sum: 0,
            wait_max: 0,
            wait_count: 0,
        }
    }

    /// A packet was offered to the queue.
    pub fn sent(&mut self, packet: impl Into<Counted>) {
        let packet = packet.into();
        self.balance.offered += 1;
        if self.window.contains(packet.sent) {
            self.offered += 1;
            self.flows[packet.flow].sent += 1;
        }
    }

    /// A packet was given up by the queue, or lost on its path.
    pub fn lost(&mut self, packet: impl Into<Counted>) {
        let packet = packet.into();
        self.balance.lost += 1;
        if self.window.contains(packet.sent) {
            self.dropped += 1;
            self.flows[packet.flow].lost += 1;
        }
    }

    /// The link was through with a packet at `finished`, which had waited so long.
    pub fn served(&mut self, finished: Time, size: Bytes, wait: TimeDelta) {
        if self.window.contains(finished) {
            self.served += size;
            let wait = wait.as_nanos().unsigned_abs();
            self.wait_sum += wait;
            self.wait_max = self.wait_max.max(wait);
            self.wait_count += 1;
            if let Some(waits) = &mut self.waits {
                waits.saturating_record(wait);
            }
        }
    }

    /// A packet arrived at its receiver.
    pub fn arrived(&mut self, now: Time, packet: impl Into<Counted>) {
        let packet = packet.into();
        self.balance.arrived += 1;
        if self.window.contains(packet.sent) {
            self.delivered += 1;
        }
        if self.window.contains(now) {
            self.flows[packet.flow].arrived += packet.size;
        }
    }

    /// Takes the datagrams of reports that left a flow's receiver: when, and their sizes.
    pub(crate) fn reported(&mut self, flow: usize, datagrams: &mut Vec<(Time, Bytes)>) {
        for (at, size) in datagrams.drain(..) {
            if self.window.contains(at) {
                let feedback = self.flows[flow].feedback.get_or_insert_default();
                feedback.datagrams += 1;
                feedback.bytes += size.get();
            }
        }
    }

    /// What became of the packets of a flow's receiver. Those inside links are counted with
    /// all the others there.
    pub(crate) fn reports(&mut self, balance: Balance) {
        self.balance.offered += balance.offered;
        self.balance.arrived += balance.arrived;
        self.balance.lost += balance.lost;
        self.balance.inside += balance.inside;
    }

    /// A frame whose life has ended, or the run has.
    pub fn frame(&mut self, flow: usize, life: &FrameLife) {
        if !self.window.contains(life.handed_over) {
            return;
        }
        let count = &mut self.flows[flow];
        let headers = Bytes::new(count.overhead.get() * u64::from(life.packets));
        let size = life.size - headers;
        count.frames += 1;
        count.size += size;
        // On its way and young: nothing can be said of its delay.
        let age = self.end.since(life.handed_over);
        if life.end.is_none() && age <= STALLS[1] {
            return;
        }
        count.decided += 1;
        count.decided_size += size;
        // Without an acknowledgement there is no end to it.
        let delay = life.delay().unwrap_or(TimeDelta::MAX);
        if let Some(delay) = life.delay() {
            count.delays.push(delay);
            if delay < VALID {
                count.valid_size += size;
            }
        }
        for (stalls, threshold) in count.stalls.iter_mut().zip([VALID, STALLS[0], STALLS[1]]) {
            *stalls += u64::from(delay > threshold);
        }
    }

    /// The figures of a run of `scenario` that is over, with so many packets still
    /// inside, after so many steps.
    #[must_use]
    pub fn outcome(mut self, scenario: &Scenario, inside: u64, steps: u64) -> Outcome {
        self.balance.inside += inside;
        let flows = std::mem::take(&mut self.flows);
        let flows: Vec<_> = flows
            .into_iter()
            .zip(&scenario.flows)
            .map(|(count, config)| {
                let from = self.window.from.max(config.start);
                let active = self.window.to.min(config.stop).since(from);
                let mut outcome = count.outcome(active);
                outcome.name.clone_from(&config.name);
                outcome.kind = config.kind_name();
                outcome.controller = config.controller_name().map(str::to_owned);
                outcome
            })
            .collect();
        let capacity = scenario
            .link
            .schedule
            .capacity(self.window.from, self.window.to);
        let videos = flows.iter().filter(|flow| flow.kind == "video");
        Outcome {
            jain: jain(videos.map(|flow| flow.throughput_mbps))
                .filter(|_| scenario.videos_share_a_route()),
            flows,
            link: LinkOutcome {
                utilization: share(self.served.get(), capacity.get()),
                queue_delay_ms: self.queue_delays(),
                offered: self.offered,
                delivered: self.delivered,
                dropped: self.dropped,
                left: self.offered - self.delivered - self.dropped,
            },
            steps,
            balance: self.balance,
        }
    }

    fn queue_delays(&self) -> Option<QueueDelays> {
        let waits = self.waits.as_ref()?;
        if self.wait_count == 0 {
            return None;
        }
        let millis = |nanos: u64| round(nanos as f64 / 1e6, 3);
        Some(QueueDelays {
            mean: round(self.wait_sum as f64 / self.wait_count as f64 / 1e6, 3),
            p95: millis(waits.value_at_quantile(0.95).min(self.wait_max)),
            p99: millis(waits.value_at_quantile(0.99).min(self.wait_max)),
            max: millis(self.wait_max),
        })
    }
}

impl FlowCount {
    fn outcome(mut self, active: TimeDelta) -> FlowOutcome {
        let frames = self.frames;
        let has_frames = frames > 0;
        let valid = share(self.valid_size.get(), self.decided_size.get());
        let mbps = |size: Bytes| round(Rate::of(size, active).as_mbps(), 6);
        FlowOutcome {
            name: String::new(),
            kind: "",
            controller: None,
            frames,
            frame_delay_ms: frame_delays(&mut self.delays),
            stall_50ms: share(self.stalls[0], self.decided),
            stall_100ms: share(self.stalls[1], self.decided),
            stall_200ms: share(self.stalls[2], self.decided),
            bitrate_mbps: has_frames.then(|| mbps(self.size)),
            valid_bitrate_mbps: valid.map(|share| mbps(self.size.scale(share))),
            throughput_mbps: mbps(self.arrived),
            loss_rate: share(self.lost, self.sent),
            feedback: self.feedback,
            recovery: None,
        }
    }
}

fn frame_delays(delays: &mut [TimeDelta]) -> Option<FrameDelays> {
    delays.sort_unstable();
    let sum: i128 = delays
        .iter()
        .map(|delay| i128::from(delay.as_nanos()))
        .sum();
    let at = |share: f64| Some(round(nearest_rank(delays, share)?.as_millis(), 3));
    Some(FrameDelays {
        mean: round(sum as f64 / delays.len() as f64 / 1e6, 3),
        p50: at(0.50)?,
        p95: at(0.95)?,
        p99: at(0.99)?,
        max: at(1.0)?,
    })
}

/// The smallest value that at least `share` of the sorted values do not exceed.
fn nearest_rank(sorted: &[TimeDelta], share: f64) -> Option<TimeDelta> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length"
    )]
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// Jain's fairness index; `None` without flows.
fn jain(throughputs: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for x in throughputs {
        n += 1.0;
        sum += x;
        squares += x * x;
    }
    (squares > 0.0).then(|| round(sum * sum / (n * squares), 6))
}

pub(crate) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| round(part as f64 / whole as f64, 6))
}

/// `value` to so many decimals, so that figures can be read and compared.
pub(crate) fn round(value: f64, decimals: u32) -> f64 {
    let scale = f64::from(10_u32.pow(decimals));
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_a_third_for_one_of_three() {
        assert_eq!(jain([5.0, 5.0, 5.0].into_iter()), Some(1.0));
        assert_eq!(jain([9.0, 0.0, 0.0].into_iter()), Some(0.333_333));
        assert_eq!(jain([].into_iter()), None);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ms = |ms| TimeDelta::from_millis(ms);
        let mut delays: Vec<_> = (1..=100).rev().map(ms).collect();
        let delays = frame_delays(&mut delays).unwrap();
        assert_eq!(
            (delays.p50, delays.p95, delays.p99, delays.max, delays.mean),
            (50.0, 95.0, 99.0, 100.0, 50.5)
        );
        assert_eq!(frame_delays(&mut []), None);
    }
}
