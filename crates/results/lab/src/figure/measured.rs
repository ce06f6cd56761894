//! Measures quantities in the traces of runs.

use mimosa_figures::Window;
use mimosa_units::{Time, TimeDelta};

use super::packets;
use super::quantity::{Class, Quantity};
use crate::numbers::{jain, mean, round, variation};
use crate::record::Record;
use crate::trace::{FlowTrace, STEP, Trace};

/// Time over which bitrates are compared with the link (RFC 8867, section 3), in microseconds.
const MEANS_US: u64 = 200_000;
/// Time over which two flows are compared (Pudica, section 5.3), in microseconds.
const EVEN_US: u64 = 2_000_000;
/// Least share of the largest bitrate that the smallest has when flows are even.
const EVEN: f64 = 0.8;

/// How long no frame is late when a flow is calm, in microseconds. Our choice.
const CALM_US: u64 = 1_000_000;
/// Share of the link's rate with which a flow has taken it: what the C3G paper's algorithms use
/// (section VI-D).
const TAKEN: f64 = 0.95;

/// Time over which a flow's bitrate is compared with itself, in microseconds: the halves of the two
/// seconds of Pudica, section 5.3.
const STEADY_US: u64 = 1_000_000;
/// Largest change of a steady bitrate (Pudica, section 5.3).
const STEADY: f64 = 0.02;
/// Bitrate below which a frame is a small one, in Mbit/s (Pudica, section 5.2, Fig. 11).
const LOW_MBPS: f64 = 10.0;

/// The part of a run that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) window: Window,
    pub(crate) above: Option<TimeDelta>,
    pub(crate) class: Class,
    /// The shares of the link in use that count, from the lowest to the highest.
    pub(crate) used: Option<(f64, f64)>,
}

/// The part of a [`FlowTrace`] that counts.
struct Flow {
    frames: Vec<Frame>,
    interval_us: u64,
}

/// A frame of a flow.
#[derive(Clone, Copy)]
struct Frame {
    at_us: u64,
    mbps: f64,
    delay_us: Option<u64>,
}

impl Quantity {
    /// The quantity over these runs; `None` if there is nothing to measure.
    pub(crate) fn of(self, records: &[&Record], part: &Part) -> Option<f64> {
        let traces = records.iter().filter_map(|record| record.trace.as_ref());
        let value = if self.is_estimate() {
            self.of_estimates(traces, part)
        } else if self.is_of_packets() {
            mean(traces.filter_map(|trace| packets::measure(self, trace, part)))
        } else {
            mean(traces.filter_map(|trace| self.of_trace(trace, part)))
        };
        value.map(round)
    }

    fn of_trace(self, trace: &Trace, part: &Part) -> Option<f64> {
        let flows: Vec<_> = trace
            .flows
            .iter()
            .map(|flow| Flow::of(flow, part.window))
            .filter(|flow| !flow.frames.is_empty())
            .collect();
        let (from, to) = (micros(part.window.from), micros(part.window.to));
        match self {
            Self::Used => {
                let served = sum(&trace.served_kbps, part.window);
                share(served, sum(&trace.capacity_kbps, part.window))
            }
            Self::Share => {
                let own = trace.flows.iter();
                let own: f64 = own.map(|flow| sum(&flow.arrived_kbps, part.window)).sum();
                share(own, own + sum(&trace.tcp_kbps, part.window))
            }
            Self::Jain => {
                let rates: Vec<_> = flows.iter().filter_map(Flow::bitrate).collect();
                jain(&rates)
            }
            Self::EvenAfter => (flows.len() > 1).then(|| even_after(&flows, from, to)),
            Self::Oversent => oversent(trace, &flows, from, to),
            Self::TakenAfter => mean(flows.iter().map(|flow| taken_after(trace, flow, from, to))),
            _ => mean(flows.iter().filter_map(|flow| self.of_flow(flow, part))),
        }
    }

    fn of_flow(self, flow: &Flow, part: &Part) -> Option<f64> {
        let frames = &flow.frames;
        let mut delays: Vec<_> = frames.iter().filter_map(|frame| frame.delay_us).collect();
        delays.sort_unstable();
        let at = |share: f64| Some(*rank(&delays, share)? as f64 / 1e3);
        let above = part.above.unwrap_or(TimeDelta::ZERO).as_nanos() / 1000;
        let above = above.unsigned_abs();
        let is_late = |frame: &Frame| frame.delay_us.is_none_or(|delay| delay > above);
        let seconds = part.window.to.since(part.window.from).as_secs();
        match self {
            Self::FrameDelayMean => mean(delays.iter().map(|us| *us as f64 / 1e3)),
            Self::FrameDelayP95 => at(0.95),
            Self::FrameDelayP99 => at(0.99),
            Self::FrameDelayMax => at(1.0),
            Self::FrameDelaySpread => Some(at(0.95)? - at(0.05)?),
            Self::Late => {
                let late = frames.iter().filter(|frame| is_late(frame)).count();
                share(late as f64, frames.len() as f64)
            }
            Self::Spikes => {
                let rises = frames
                    .windows(2)
                    .filter(|pair| !is_late(&pair[0]) && is_late(&pair[1]));
                Some(rises.count() as f64 * 60.0 / seconds)
            }
            Self::LateRun => {
                let late = frames.iter().filter(|frame| is_late(frame)).count();
                let runs = frames.chunk_by(|a, b| is_late(a) == is_late(b));
                let runs = runs.filter(|run| run.first().is_some_and(is_late)).count();
                (runs > 0).then(|| late as f64 / runs as f64)
            }
            Self::LateLow => {
                let late = frames.iter().filter(|frame| is_late(frame));
                let low = late.clone().filter(|frame| frame.mbps < LOW_MBPS).count();
                share(low as f64, late.count() as f64)
            }
            Self::Stalled => stalled(frames, above),
            Self::SteadyAfter => {
                let (from, to) = (micros(part.window.from), micros(part.window.to));
                Some(steady_after(flow, from, to))
            }
            Self::DrainedAfter | Self::DrainTime => {
                // Of several equally slow frames, the last; a frame that never came is the slowest.
                let slowest = (0..frames.len())
                    .max_by_key(|index| frames[*index].delay_us.unwrap_or(u64::MAX))
                    .filter(|index| is_late(&frames[*index]));
                let Some(slowest) = slowest else {
                    return Some(0.0);
                };
                let drained = frames[slowest..].iter().find(|frame| !is_late(frame));
                let until = drained.map_or(micros(part.window.to), |frame| frame.at_us);
                let from = match self {
                    Self::DrainTime => frames[slowest].at_us,
                    _ => micros(part.window.from),
                };
                Some(until.saturating_sub(from) as f64 / 1e6)
            }
            Self::CalmAfter => {
                let from = micros(part.window.from);
                let late = frames.iter().filter(|frame| is_late(frame));
                // The end of the late frame that no other one follows within a second, or the beginning.
                let mut since = from;
                for frame in late {
                    if frame.at_us.saturating_sub(since) >= CALM_US {
                        break;
                    }
                    since = frame.at_us.saturating_add(flow.interval_us);
                }
                Some(since.saturating_sub(from) as f64 / 1e6)
            }
            Self::Incomplete => {
                let missing = frames.iter().filter(|frame| frame.delay_us.is_none());
                Some(missing.count() as f64)
            }
            Self::Bitrate => flow.bitrate(),
            Self::BitrateP99 => {
                let mut mbps: Vec<_> = frames.iter().map(|frame| frame.mbps).collect();
                mbps.sort_unstable_by(f64::total_cmp);
                rank(&mbps, 0.99).copied()
            }
            Self::BitrateVariation => {
                let mbps: Vec<_> = frames.iter().map(|frame| frame.mbps).collect();
                variation(&mbps)
            }
            _ => None,
        }
    }

    fn of_estimates<'a>(self, traces: impl Iterator<Item = &'a Trace>, part: &Part) -> Option<f64> {
        let differences: Vec<_> = traces
            .flat_map(|trace| &trace.rounds)
            .filter(|round| {
                let at = Time::from_secs(round.second);
                let used = round.used as f64 / 1e3;
                let counts = |(low, high): (f64, f64)| low <= used && used < high;
                part.window.from <= at && at < part.window.to && part.used.is_none_or(counts)
            })
            .map(|round| (round.estimated as f64 - round.used as f64) / 1e3)
            .collect();
        let bias = mean(differences.iter().copied())?;
        match self {
            Self::EstimateError => mean(differences.iter().map(|x| x.abs())),
            Self::EstimateDeviation => {
                let squares = differences.iter().map(|x| (x - bias) * (x - bias));
                mean(squares).map(f64::sqrt)
            }
            _ => Some(bias),
        }
    }
}

fn micros(at: Time) -> u64 {
    at.as_nanos() / 1000
}

impl Flow {
    /// The frames that were handed over within the window. If the lists have different lengths, the
    /// shortest one counts.
    fn of(flow: &FlowTrace, window: Window) -> Self {
        let (from, to) = (micros(window.from), micros(window.to));
        let entries = flow.at_us.iter().zip(&flow.kbps).zip(&flow.delay_us);
        let frames = entries.map(|((at_us, kbps), delay_us)| Frame {
            at_us: *at_us,
            mbps: *kbps as f64 / 1e3,
            delay_us: *delay_us,
        });
        Self {
            frames: frames
                .filter(|frame| (from..to).contains(&frame.at_us))
                .collect(),
            interval_us: flow.interval_us,
        }
    }

    /// The mean bitrate from the first to the last frame, including intervals without a frame.
    fn bitrate(&self) -> Option<f64> {
        let (first, last) = (self.frames.first()?, self.frames.last()?);
        let length = last.at_us.saturating_sub(first.at_us);
        let length = length.saturating_add(self.interval_us);
        self.mean(first.at_us, length)
    }

    /// The mean bitrate in the `length_us` from `from` on; `None` without frames.
    fn mean(&self, from: u64, length_us: u64) -> Option<f64> {
        let first = self.frames.partition_point(|frame| frame.at_us < from);
        let end = from.saturating_add(length_us);
        let last = self.frames.partition_point(|frame| frame.at_us < end);
        let frames = self.frames.get(first..last)?;
        let sum: f64 = frames.iter().map(|frame| frame.mbps).sum();
        (!frames.is_empty() && length_us > 0)
            .then(|| sum * self.interval_us as f64 / length_us as f64)
    }
}

/// The share in per cent; `None` if the whole is zero.
pub(super) fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole * 100.0)
}

/// The sum of the entries, one for each [`STEP`], within the window.
fn sum(list: &[u64], window: Window) -> f64 {
    let step = STEP.as_nanos().unsigned_abs();
    let index = |at: Time| usize::try_from(at.as_nanos() / step).unwrap_or(usize::MAX);
    let to = index(window.to).min(list.len());
    let part = list.get(index(window.from).min(to)..to);
    part.unwrap_or_default()
        .iter()
        .map(|kbps| *kbps as f64)
        .sum()
}

/// The least value that at least `share` of the sorted values do not exceed.
pub(super) fn rank<T>(sorted: &[T], share: f64) -> Option<&T> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a length"
    )]
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1)
}

/// The percent of the time from the first frame that came whole to the last that is in gaps of more than
/// `above` microseconds (ACE, section 6.3).
fn stalled(frames: &[Frame], above: u64) -> Option<f64> {
    let whole = frames.iter().filter_map(|frame| {
        let delay = frame.delay_us?;
        Some(frame.at_us.saturating_add(delay))
    });
    let mut whole: Vec<_> = whole.collect();
    whole.sort_unstable();
    let gaps = whole.windows(2).map(|pair| pair[1] - pair[0]);
    let long: u64 = gaps.filter(|gap| *gap > above).sum();
    share(long as f64, (*whole.last()? - *whole.first()?) as f64)
}

fn even_after(flows: &[Flow], from: u64, to: u64) -> f64 {
    let mut begin = from;
    while begin + EVEN_US <= to {
        let rates: Vec<_> = flows
            .iter()
            .filter_map(|flow| flow.mean(begin, EVEN_US))
            .collect();
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        if rates.len() > 1 && least >= EVEN * most {
            return (begin + EVEN_US - from) as f64 / 1e6;
        }
        begin += MEANS_US;
    }
    (to - from) as f64 / 1e6
}

fn steady_after(flow: &Flow, from: u64, to: u64) -> f64 {
    let mut begin = from;
    while begin + 2 * STEADY_US <= to {
        let means = (
            flow.mean(begin, STEADY_US),
            flow.mean(begin + STEADY_US, STEADY_US),
        );
        if let (Some(before), Some(after)) = means
            && (after - before).abs() <= STEADY * before
        {
            return (begin + 2 * STEADY_US - from) as f64 / 1e6;
        }
        begin += MEANS_US;
    }
    (to - from) as f64 / 1e6
}

fn taken_after(trace: &Trace, flow: &Flow, from: u64, to: u64) -> f64 {
    let step = STEP.as_nanos().unsigned_abs() / 1000;
    let has_taken = |frame: &&Frame| {
        let index = usize::try_from(frame.at_us / step).unwrap_or(usize::MAX);
        let capacity = trace.capacity_kbps.get(index);
        capacity.is_some_and(|kbps| frame.mbps >= TAKEN * *kbps as f64 / 1e3)
    };
    let first = flow.frames.iter().find(has_taken);
    let until = first.map_or(to, |frame| frame.at_us);
    until.saturating_sub(from) as f64 / 1e6
}

fn oversent(trace: &Trace, flows: &[Flow], from: u64, to: u64) -> Option<f64> {
    let step = STEP.as_nanos().unsigned_abs() / 1000;
    let (mut above, mut all) = (0.0, 0.0);
    for bin in from.div_ceil(MEANS_US)..to / MEANS_US {
        let begin = bin * MEANS_US;
        let rates = flows.iter().filter_map(|flow| flow.mean(begin, MEANS_US));
        let index = usize::try_from(begin / step).unwrap_or(usize::MAX);
        let Some(capacity) = trace.capacity_kbps.get(index) else {
            break;
        };
        all += 1.0;
        if rates.sum::<f64>() > *capacity as f64 / 1e3 {
            above += 1.0;
        }
    }
    share(above, all)
}
