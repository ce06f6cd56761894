//! The figures of emulated runs, as tables and as JSON.

use mimosa_figures::RunFigures;
use mimosa_link::emulate::Spread;
use mimosa_plot::Table;
use serde::Serialize;

use super::{Plan, Run, compare};
use crate::sim;

/// The tables of `mimosa sim` over the valid runs; with `compared`, a table of both kinds of runs
/// instead. A table of each run's punctuality follows.
pub(super) fn tables(plans: &[Plan], runs: &[Run<'_>], compared: bool) -> Vec<Table> {
    let counted = || {
        runs.iter()
            .filter(|run| run.emulated.punctuality.is_valid())
    };
    let mut tables = if compared {
        vec![compare::table(plans, &counted().collect::<Vec<_>>())]
    } else {
        let runs: Vec<_> = counted()
            .map(|run| sim::Run {
                seed: run.seed,
                variant: run.label,
                figures: run.emulated.figures.clone(),
            })
            .collect();
        let scenarios: Vec<_> = plans
            .iter()
            .map(|plan| (plan.label.as_deref(), &plan.scenario))
            .collect();
        sim::tables(&scenarios, &runs)
    };
    tables.push(punctuality(runs));
    tables
}

/// How late each part of each run was, a row for each run.
fn punctuality(runs: &[Run<'_>]) -> Table {
    let row = |run: &Run<'_>| {
        let punctuality = &run.emulated.punctuality;
        let is_valid = punctuality.is_valid();
        vec![
            run.label.unwrap_or_default().to_owned(),
            run.seed.to_string(),
            punctuality.there.to_string(),
            punctuality.back.to_string(),
            punctuality.senders.to_string(),
            punctuality.entry.to_string(),
            punctuality.acknowledging.to_string(),
            punctuality.vanished.to_string(),
            if is_valid { "yes" } else { "no" }.to_owned(),
        ]
    };
    let headers = [
        "variant",
        "seed",
        "link there",
        "link back",
        "senders",
        "into the link",
        "acknowledging",
        "vanished",
        "counts",
    ];
    sim::without_empty_variants(Table {
        title: "Lateness in us (p50/p99/p99.9/most; a run counts when the link's p99.9 is at most 1 ms)".to_owned(),
        headers: headers.map(str::to_owned).to_vec(),
        rows: runs.iter().map(row).collect(),
    })
}

/// A run as one line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    valid: bool,
    late_us: Lateness,
    vanished: u64,
    #[serde(flatten)]
    figures: &'a RunFigures,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<&'a RunFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_with_lag: Option<&'a RunFigures>,
}

/// The lateness of each part of a run.
#[derive(Serialize)]
struct Lateness {
    there: Micros,
    back: Micros,
    senders: Micros,
    entry: Micros,
    acknowledging: Micros,
}

/// A spread in microseconds.
#[derive(Serialize)]
struct Micros {
    p50: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl From<Spread> for Micros {
    fn from(spread: Spread) -> Self {
        let micros = |time: mimosa_units::TimeDelta| time.as_millis() * 1e3;
        Self {
            p50: micros(spread.p50),
            p99: micros(spread.p99),
            p999: micros(spread.p999),
            max: micros(spread.most),
        }
    }
}

/// One line of JSON.
pub(super) fn json(run: &Run<'_>) -> Result<Vec<u8>, serde_json::Error> {
    let punctuality = run.emulated.punctuality;
    let line = Line {
        seed: run.seed,
        variant: run.label,
        valid: punctuality.is_valid(),
        late_us: Lateness {
            there: punctuality.there.into(),
            back: punctuality.back.into(),
            senders: punctuality.senders.into(),
            entry: punctuality.entry.into(),
            acknowledging: punctuality.acknowledging.into(),
        },
        vanished: punctuality.vanished,
        figures: &run.emulated.figures,
        simulated: run.simulated.as_ref(),
        simulated_with_lag: run.with_lag.as_ref(),
    };
    let mut text = serde_json::to_vec(&line)?;
    text.push(b'\n');
    Ok(text)
}
