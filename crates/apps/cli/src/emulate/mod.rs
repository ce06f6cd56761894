//! `mimosa emulate`: runs a scenario in real time over an emulated link, and prints the figures.

mod args;
mod compare;
mod report;

use indicatif::{ProgressBar, ProgressStyle};
use mimosa_figures::{RunFigures, Window, measure};
use mimosa_link::emulate::{Emulated, Ends, RealtimeError, Spread};
use mimosa_net::Jitter;
use mimosa_scenario::{FlowKind, Scenario};
use mimosa_units::Time;

use crate::beside::Outside;
use crate::output::{Existing, Files, Output, OutputError};
use crate::sim::{self, SimError, Wanted};
use crate::terminal;
pub(crate) use args::Args;

/// Why `mimosa emulate` failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmulateError {
    /// The scenario or the window cannot be used.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// The results cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A run failed.
    #[error("{run}{error}")]
    Realtime {
        /// The run's label and a colon; empty if there is one run only.
        run: String,
        error: RealtimeError,
    },
    /// No run was valid.
    #[error(
        "every run of {0} was too late to count; let the machine do nothing else, or try more often with --repeat"
    )]
    Late(String),
}

/// A run that is planned.
struct Plan {
    /// Label of the plan; `None` if there is one only.
    label: Option<String>,
    scenario: Scenario,
    window: Window,
    seed: u64,
}

/// A finished run, with its figures.
struct Run<'a> {
    seed: u64,
    label: Option<&'a str>,
    emulated: Emulated,
    /// Figures of the run in virtual time.
    simulated: Option<RunFigures>,
    /// Figures of the run in virtual time in which the receiving host delays
    /// acknowledgements as it did in real time; `None` without TCP.
    with_lag: Option<RunFigures>,
}

pub(crate) fn run(args: &Args) -> Result<(), EmulateError> {
    let mut files = Files::default();
    let plans = plans(args, &mut files)?;
    let create = |path| files.create(path, Existing::Replace);
    let mut json = args.json.as_deref().map(create).transpose()?;
    let progress = progress(&plans, args.repeat);
    let mut runs = Vec::new();
    for plan in &plans {
        for seed in plan.seed..plan.seed.saturating_add(args.repeat) {
            let run = plan.run(seed, args.compare, &progress)?;
            if let Some(output) = &mut json {
                output.put(&report::json(&run).map_err(SimError::Json)?)?;
            }
            runs.push(run);
        }
    }
    progress.finish_and_clear();
    json.map_or(Ok(()), Output::finish)?;
    if args.json.is_none() {
        let tables = report::tables(&plans, &runs, args.compare);
        terminal::print(&sim::text(&tables, args.markdown))?;
    }
    let is_late = |plan: &&Plan| {
        let mut own = runs.iter().filter(|run| run.label == plan.label.as_deref());
        !own.any(|run| run.emulated.punctuality.is_valid())
    };
    plans.iter().find(is_late).map_or(Ok(()), |plan| {
        let label = plan.label.as_deref().unwrap_or("the scenario");
        Err(EmulateError::Late(label.to_owned()))
    })
}

/// The plans for every variant of every file.
fn plans(args: &Args, files: &mut Files) -> Result<Vec<Plan>, EmulateError> {
    let mut plans = Vec::new();
    for file in &args.files {
        let wanted = Wanted {
            file,
            variant: args.variant.as_deref(),
            from: args.from,
            to: args.to,
            outside: Outside::None,
        };
        let input = sim::read(&wanted, files)?;
        let name = file.file_stem().unwrap_or(file.as_os_str());
        let name = name.display().to_string();
        for (variant, scenario) in input.loaded.variants {
            let label = match variant {
                variant if args.files.len() == 1 => variant,
                None => Some(name.clone()),
                Some(variant) => Some(format!("{name} {variant}")),
            };
            plans.push(Plan {
                label,
                scenario,
                window: input.window,
                seed: args.seed.unwrap_or(input.loaded.seed),
            });
        }
    }
    Ok(plans)
}

impl Plan {
    fn run(
        &self,
        seed: u64,
        compare: bool,
        progress: &ProgressBar,
    ) -> Result<Run<'_>, EmulateError> {
        let label = self.label.as_deref();
        let emulated = emulate(&self.scenario, seed, self.window, progress);
        let emulated = emulated.map_err(|error| EmulateError::Realtime {
            run: label.map_or_else(String::new, |label| format!("{label}: ")),
            error,
        })?;
        let simulate = |scenario: &Scenario| {
            measure(scenario, self.window, &mut (), |observer| {
                mimosa_sim::run(scenario, seed, observer);
            })
        };
        let lagging = lagging(&self.scenario, emulated.punctuality.acknowledging);
        Ok(Run {
            seed,
            label,
            emulated,
            simulated: compare.then(|| simulate(&self.scenario)),
            with_lag: lagging.filter(|_| compare).as_ref().map(simulate),
        })
    }
}

/// `scenario` with TCP acknowledgements that are as late as `lag` says; `None` if it has no TCP
/// flow, or states its own jitter for each.
fn lagging(scenario: &Scenario, lag: Spread) -> Option<Scenario> {
    let mut scenario = scenario.clone();
    let mut is_changed = false;
    for flow in &mut scenario.flows {
        if let FlowKind::Tcp(tcp) = &mut flow.kind
            && tcp.reverse.jitter.is_none()
        {
            tcp.reverse.jitter = Some(Jitter::Quantiles {
                p50: lag.p50,
                p99: lag.p99,
                p999: lag.p999,
                most: lag.most,
            });
            is_changed = true;
        }
    }
    is_changed.then_some(scenario)
}

/// Makes one run in real time, between two new namespaces.
fn emulate(
    scenario: &Scenario,
    seed: u64,
    window: Window,
    progress: &ProgressBar,
) -> Result<Emulated, RealtimeError> {
    let ends = Ends::create()?;
    let mut before = Time::ZERO;
    let mut told = |now: Time| {
        progress.inc(millis(now.since(before)));
        before = now;
    };
    let emulated = mimosa_link::emulate::run(scenario, seed, window, &ends, &mut told)?;
    told(Time::ZERO + scenario.duration);
    Ok(emulated)
}

fn millis(time: mimosa_units::TimeDelta) -> u64 {
    time.as_nanos().unsigned_abs() / 1_000_000
}

/// A progress bar of the time that the runs take, on standard error; hidden without a terminal.
fn progress(plans: &[Plan], repeat: u64) -> ProgressBar {
    let durations = plans.iter().map(|plan| millis(plan.scenario.duration));
    let all: u64 = durations.sum();
    let bar = ProgressBar::new(all.saturating_mul(repeat));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent} %, {eta} left") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use mimosa_units::TimeDelta;

    use super::*;

    fn scenario(link: &str, kind: &str) -> Scenario {
        let text = format!(
            "duration = \"1s\"\n[link]\nrate = \"9Mbit/s\"\n{link}\n[[flow]]\nkind = \"{kind}\"\n"
        );
        mimosa_scenario::load(&text, "test", &mut ())
            .unwrap()
            .variants
            .remove(0)
            .1
    }

    fn jitter(scenario: Option<Scenario>) -> Option<Jitter> {
        match &scenario?.flows[0].kind {
            FlowKind::Tcp(tcp) => tcp.reverse.jitter,
            _ => None,
        }
    }

    #[test]
    fn what_the_host_adds_is_put_on_tcps_way_back_alone() {
        let us = TimeDelta::from_micros;
        let lag = Spread {
            p50: us(40),
            p99: us(400),
            p999: us(900),
            most: us(9_000),
        };
        let expected = Jitter::Quantiles {
            p50: us(40),
            p99: us(400),
            p999: us(900),
            most: us(9_000),
        };
        assert_eq!(jitter(lagging(&scenario("", "tcp"), lag)), Some(expected));
        assert!(lagging(&scenario("", "video"), lag).is_none());
        let own = "return_jitter = { kind = \"normal\" }";
        assert!(
            lagging(&scenario(own, "tcp"), lag).is_none(),
            "the scenario's own"
        );
    }
}
