//! The causes of targets and limits, with the evidence for them.

use std::collections::BTreeMap;

use mimosa_facts::{Evidence, SessionFrame};
use mimosa_units::{Rate, TimeDelta};
use serde::Serialize;

use crate::spread::mean;
use crate::summary::target;

/// How often a rule decided, and on what evidence: means over its frames, without those for which
/// the controller gave no evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseShare {
    /// Name of the cause.
    pub cause: &'static str,
    /// The cause as a clause in words.
    pub in_words: &'static str,
    /// Number of frames about which the rule decided.
    pub frames: usize,
    /// Share of all frames, from 0 to 1.
    pub share: f64,
    /// Mean target of these frames, in Mbit/s.
    pub target_mbps: Option<f64>,
    /// Mean of the newest samples of the bottleneck's utilisation, as a share.
    pub utilization: Option<f64>,
    /// Mean of the smoothed utilisation, as a share.
    pub smoothed_utilization: Option<f64>,
    /// Mean rate at which the bottleneck serves this stream, in Mbit/s.
    pub service_mbps: Option<f64>,
    /// Mean queueing delay, in milliseconds.
    pub queue_ms: Option<f64>,
    /// Mean of the stream's own data in queues, in kilobytes.
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

/// The service rate; `None` also if it has no limit.
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
