//! What set the targets and limits, and what it saw.

use std::collections::BTreeMap;

use mimosa_facts::{Evidence, SessionFrame};
use mimosa_units::{Rate, TimeDelta};
use serde::Serialize;

use crate::spread::mean;
use crate::summary::target;

/// How often a rule decided, and on what evidence: means over the frames that it
/// decided about, without those for which the controller gave none.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseShare {
    /// Its name.
    pub cause: &'static str,
    /// The same as a clause for people.
    pub in_words: &'static str,
    /// Frames that it decided about.
    pub frames: usize,
    /// Their share of all frames.
    pub share: f64,
    /// Their mean target, in Mbit/s.
    pub target_mbps: Option<f64>,
    /// Newest sample of the bottleneck's use.
    pub utilization: Option<f64>,
    /// The same, smoothed.
    pub smoothed_utilization: Option<f64>,
    /// What the bottleneck serves of this stream, in Mbit/s.
    pub service_mbps: Option<f64>,
    /// Delay in queues, in milliseconds.
    pub queue_ms: Option<f64>,
    /// Own data in queues, in kilobytes.
    pub backlog_kb: Option<f64>,
}

/// The rules that decided about `frames`, the most frequent first.
pub(crate) fn causes(frames: &[SessionFrame]) -> Vec<CauseShare> {
    let mut by_cause: BTreeMap<&str, Vec<&SessionFrame>> = BTreeMap::new();
    for frame in frames {
        let cause = frame.life.decision.cause.as_str();
        by_cause.entry(cause).or_default().push(frame);
    }
    let mut causes: Vec<_> = by_cause
        .into_iter()
        .filter_map(|(cause, decided)| {
            let evidence = |value: fn(Evidence) -> Option<f64>| {
                let values = decided.iter();
                mean(values.filter_map(|frame| value(frame.life.decision.evidence)))
            };
            Some(CauseShare {
                cause,
                in_words: decided.first()?.life.decision.cause.in_words(),
                frames: decided.len(),
                share: decided.len() as f64 / frames.len() as f64,
                target_mbps: target(decided.iter().copied()),
                utilization: evidence(|seen| seen.utilization),
                smoothed_utilization: evidence(|seen| seen.smoothed_utilization),
                service_mbps: evidence(service_mbps),
                queue_ms: evidence(queue_ms),
                backlog_kb: evidence(backlog_kb),
            })
        })
        .collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.frames));
    causes
}

/// `None` also where there is no limit.
pub(crate) fn service_mbps(seen: Evidence) -> Option<f64> {
    let rate = seen.service_rate.filter(|rate| *rate < Rate::MAX)?;
    Some(rate.as_mbps())
}

pub(crate) fn queue_ms(seen: Evidence) -> Option<f64> {
    seen.queue_delay.map(TimeDelta::as_millis)
}

pub(crate) fn backlog_kb(seen: Evidence) -> Option<f64> {
    seen.backlog.map(|backlog| backlog.get() as f64 / 1e3)
}
