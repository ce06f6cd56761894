//! Compares the controller's estimates of the network with the truth.

use mimosa_facts::SessionFrame;
use mimosa_units::{TimeDelta, nearest_rank};
use serde::Serialize;

use crate::link::traffic::{Backlog, Traffic};
use crate::spread::{mean, sorted};

/// Time before a frame is due over which the link's rate and utilisation are measured.
const BEFORE: TimeDelta = TimeDelta::from_millis(100);

/// The controller's estimates when frames were due, compared with the truth. Estimates that the
/// controller does not make are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Beliefs {
    /// The rate at which the bottleneck serves this stream, compared with the link's rate over the
    /// 100 ms before, in Mbit/s.
    pub service_mbps: Option<Belief>,
    /// The utilisation of the bottleneck, compared with the share of the 100 ms before in which the
    /// link serialised.
    pub utilization: Option<Belief>,
    /// The queueing delay, compared with the wait of the stream's newest packet that was due at the
    /// receiver before, in milliseconds.
    pub queue_ms: Option<Belief>,
    /// The stream's own data in queues, compared with its data in the link's queue at that time, in
    /// kilobytes.
    pub backlog_kb: Option<Belief>,
}

/// An estimate, compared with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Belief {
    /// Number of frames for which both are known.
    pub frames: usize,
    /// Mean of the estimate.
    pub believed: f64,
    /// Mean of the truth.
    pub truth: f64,
    /// Median of the absolute difference.
    pub error_p50: f64,
    /// 95th percentile of the absolute difference.
    pub error_p95: f64,
}

/// The truth when a frame was due.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Truth {
    pub(crate) link_mbps: Option<f64>,
    pub(crate) busy: Option<f64>,
    pub(crate) queue_ms: Option<f64>,
    pub(crate) backlog_kb: Option<f64>,
}

/// Finds the truth at any time.
pub(crate) struct Truths<'a> {
    traffic: &'a Traffic<'a>,
    backlog: Backlog,
    /// For each packet of the session: when it is due at the receiver, and its wait.
    waits: Vec<(TimeDelta, TimeDelta)>,
}

impl<'a> Truths<'a> {
    pub(crate) fn new(traffic: &'a Traffic<'a>) -> Self {
        let own = traffic.packets.iter().filter(|placed| placed.is_own);
        let mut waits: Vec<_> = own
            .filter_map(|placed| Some((placed.due()?, placed.wait()?)))
            .collect();
        waits.sort_unstable();
        Self {
            traffic,
            backlog: Backlog::own(traffic),
            waits,
        }
    }

    /// The truth at a time of the axis.
    pub(crate) fn at(&self, time: TimeDelta) -> Truth {
        let (first, last) = (self.traffic.packets.first(), self.traffic.packets.last());
        let is_known =
            first.is_some_and(|first| first.at <= time) && last.is_some_and(|last| time <= last.at);
        if !is_known {
            return Truth::default();
        }
        let served = &self.traffic.served;
        let newest = self.waits.partition_point(|wait| wait.0 <= time);
        let newest = newest.checked_sub(1).and_then(|last| self.waits.get(last));
        Truth {
            link_mbps: served.mbps(time - BEFORE, time),
            busy: served.busy(time - BEFORE, time),
            queue_ms: newest.map(|wait| wait.1.as_millis()),
            backlog_kb: Some(self.backlog.at(time) / 1e3),
        }
    }
}

impl Beliefs {
    /// The estimates of `frames`, compared with `truths`.
    pub(crate) fn of(frames: &[SessionFrame], truths: &[Truth]) -> Self {
        let compare = |believed: fn(&SessionFrame) -> Option<f64>,
                       truth: fn(&Truth) -> Option<f64>| {
            let pairs = frames.iter().zip(truths);
            let pairs = pairs.filter_map(|(frame, known)| Some((believed(frame)?, truth(known)?)));
            Belief::of(&pairs.collect::<Vec<_>>())
        };
        Self {
            service_mbps: compare(service_mbps, |truth| truth.link_mbps),
            utilization: compare(utilization, |truth| truth.busy),
            queue_ms: compare(queue_ms, |truth| truth.queue_ms),
            backlog_kb: compare(backlog_kb, |truth| truth.backlog_kb),
        }
    }
}

impl Belief {
    fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let errors = pairs
            .iter()
            .map(|(believed, truth)| (believed - truth).abs());
        let errors = sorted(errors);
        Some(Self {
            frames: pairs.len(),
            believed: mean(pairs.iter().map(|pair| pair.0))?,
            truth: mean(pairs.iter().map(|pair| pair.1))?,
            error_p50: nearest_rank(&errors, 0.50)?,
            error_p95: nearest_rank(&errors, 0.95)?,
        })
    }
}

pub(crate) fn service_mbps(frame: &SessionFrame) -> Option<f64> {
    let rate = frame.life.decision.evidence.service_rate?;
    Some(rate.as_mbps())
}

pub(crate) fn utilization(frame: &SessionFrame) -> Option<f64> {
    frame.life.decision.evidence.utilization
}

pub(crate) fn queue_ms(frame: &SessionFrame) -> Option<f64> {
    let delay = frame.life.decision.evidence.queue_delay?;
    Some(delay.as_millis())
}

pub(crate) fn backlog_kb(frame: &SessionFrame) -> Option<f64> {
    let backlog = frame.life.decision.evidence.backlog?;
    Some(backlog.get() as f64 / 1e3)
}
