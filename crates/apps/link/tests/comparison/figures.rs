//! The figures of a run.

use std::collections::BTreeMap;
use std::ops::Range;

use mimosa_net::queue::ClassId;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::case::{Case, PACKET};
use super::traffic::{Arrival, Traffic};

/// Share of a phase, at its beginning, that does not count as steady.
const UNSTEADY: f64 = 0.5;
/// Window over which rates are measured, and the step by which it moves.
const WINDOW: TimeDelta = TimeDelta::from_millis(100);
const STEP: TimeDelta = TimeDelta::from_millis(10);
/// Relative distance from the steady rate at which a rate counts as settled.
const NEAR: f64 = 0.1;

/// The figures of a class in the steady part of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    /// Rate of the IP packets that arrived, in Mbit/s.
    pub(crate) mbps: f64,
    /// Median of the packets' delays, in milliseconds.
    pub(crate) p50: f64,
    /// 99th percentile of the packets' delays, in milliseconds.
    pub(crate) p99: f64,
}

/// The figures of a run.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Figures of each class in each phase; `None` if nothing arrived.
    pub(crate) steady: BTreeMap<ClassId, Vec<Option<Steady>>>,
    /// Milliseconds from the beginning of each phase until all rates stay near their steady values.
    pub(crate) settled: Vec<f64>,
    /// Bytes that arrived in the first 100 ms above what the root's ceiling allows; `None` if fewer
    /// did.
    pub(crate) burst: Option<f64>,
    /// Number of packets of each class that never arrived.
    pub(crate) dropped: BTreeMap<ClassId, usize>,
    /// The 99th percentile of how late packets were sent, in milliseconds.
    pub(crate) late: f64,
}

/// The value below which this share of the values lies.
pub(crate) fn quantile(mut values: Vec<f64>, share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let most = values.len().checked_sub(1)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and the length"
    )]
    let index = (most as f64 * share).round() as usize;
    values.get(index).copied()
}

/// The packets that came in this time span.
fn within<'a>(arrivals: &'a [Arrival], span: &Range<Time>) -> impl Iterator<Item = &'a Arrival> {
    let span = span.clone();
    arrivals.iter().filter(move |a| span.contains(&a.came))
}

fn mbps(arrivals: &[Arrival], span: &Range<Time>) -> f64 {
    let bytes: Bytes = within(arrivals, span).map(|_| PACKET).sum();
    Rate::of(bytes, span.end.since(span.start)).as_mbps()
}

fn steady(arrivals: &[Arrival], span: &Range<Time>) -> Option<Steady> {
    let delays = within(arrivals, span).map(|a| a.came.since(a.sent).as_millis());
    let delays: Vec<_> = delays.collect();
    Some(Steady {
        mbps: mbps(arrivals, span),
        p50: quantile(delays.clone(), 0.5)?,
        p99: quantile(delays, 0.99)?,
    })
}

/// The part of a phase that counts as steady.
fn steady_part(phase: &Range<Time>) -> Range<Time> {
    phase.start + phase.end.since(phase.start).scale(UNSTEADY)..phase.end
}

impl Figures {
    /// The figures of the packets of `case`.
    pub(crate) fn of(case: &Case, traffic: &Traffic) -> Self {
        let phases = case.phases();
        let flows = traffic.flows.iter();
        let of_class = |arrivals: &[Arrival]| {
            let steady = |phase| steady(arrivals, &steady_part(phase));
            phases.iter().map(steady).collect()
        };
        let first = flows.clone().filter_map(|(_, flow)| flow.arrivals.first());
        let first = first.map(|a| a.came).min().unwrap_or(Time::ZERO);
        let early = first..first + WINDOW;
        let begun: usize = flows
            .clone()
            .map(|(_, flow)| within(&flow.arrivals, &early).count())
            .sum();
        let allowed = case.ceil().amount_in(WINDOW);
        let lateness = traffic.lateness.iter().map(|late| late.as_millis());
        Self {
            settled: phases.iter().map(|p| settled(traffic, p)).collect(),
            burst: Some(begun as f64 * PACKET.get() as f64 - allowed.get() as f64)
                .filter(|burst| *burst >= 0.0),
            dropped: flows
                .clone()
                .map(|(class, flow)| (*class, flow.sent - flow.arrivals.len()))
                .collect(),
            steady: flows
                .map(|(class, flow)| (*class, of_class(&flow.arrivals)))
                .collect(),
            late: quantile(lateness.collect(), 0.99).unwrap_or(0.0),
        }
    }
}

/// Milliseconds from the beginning of a phase to the first window from which on all rates are near
/// the steady ones.
fn settled(traffic: &Traffic, phase: &Range<Time>) -> f64 {
    let flows = || traffic.flows.values().map(|flow| &*flow.arrivals);
    let steady: Vec<_> = flows().map(|a| mbps(a, &steady_part(phase))).collect();
    let mut at = phase.end - WINDOW;
    while at >= phase.start {
        let window = at..at + WINDOW;
        let mut rates = flows().map(|a| mbps(a, &window)).zip(&steady);
        if !rates.all(|(now, steady)| (now - steady).abs() <= NEAR * steady) {
            return (at + STEP).since(phase.start).as_millis();
        }
        if at == phase.start {
            break;
        }
        at = (at - STEP).max(phase.start);
    }
    0.0
}
