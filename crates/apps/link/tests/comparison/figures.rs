//! What a run shows.

use std::collections::BTreeMap;
use std::ops::Range;

use mimosa_net::queue::ClassId;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::case::{Case, PACKET};
use super::traffic::{Arrival, Traffic};

/// The part of a phase that is not counted as steady, at its begin.
const UNSTEADY: f64 = 0.5;
/// The window in which rates are looked at, and by what it moves.
const WINDOW: TimeDelta = TimeDelta::from_millis(100);
const STEP: TimeDelta = TimeDelta::from_millis(10);
/// How near a rate is to the steady one when it has settled.
const NEAR: f64 = 0.1;

/// A class in the steady part of a phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    /// Mbit/s of IP packets that arrived.
    pub(crate) mbps: f64,
    /// Median of the delays of what arrived, in milliseconds.
    pub(crate) p50: f64,
    /// And their 99th percentile.
    pub(crate) p99: f64,
}

/// One run in figures.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// By class, for each phase; `None` when nothing arrived.
    pub(crate) steady: BTreeMap<ClassId, Vec<Option<Steady>>>,
    /// Milliseconds until all rates stay near their steady ones, for each phase.
    pub(crate) settled: Vec<f64>,
    /// Bytes that arrived in the first 100 ms above what the root's ceiling gives;
    /// `None` when less arrived.
    pub(crate) burst: Option<f64>,
    /// Packets that never arrived.
    pub(crate) dropped: BTreeMap<ClassId, usize>,
    /// The 99th percentile of how late packets were sent, in milliseconds.
    pub(crate) late: f64,
}

/// The element below which this share of them is.
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

/// What came in this span.
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

/// The last part of a phase.
fn steady_part(phase: &Range<Time>) -> Range<Time> {
    phase.start + phase.end.since(phase.start).scale(UNSTEADY)..phase.end
}

impl Figures {
    /// The figures of what `case` had arrive.
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

/// Milliseconds from the begin of a phase to the first window that is near the steady
/// rates, with all after it.
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
