//! `mimosa sim`: runs a scenario for each seed, and writes the figures.

mod args;
mod bins;
mod error;
mod figure;
mod input;
mod outputs;
mod series;
mod table;

use mimosa_facts::{Passage, StreamPacket};
use mimosa_figures::{RunFigures, Window};
use mimosa_record::{FrameRow, Table};
use mimosa_scenario::{Loaded, Scenario};
use mimosa_sweep::parallel;
use serde::Serialize;

use crate::bar::bar;
use crate::beside::Outside;
use crate::output::Files;
use crate::terminal;

pub(crate) use args::{Args, Format as PlotFormat, Plot, Seeds};
pub(crate) use error::SimError;
pub(crate) use input::{Wanted, read};
use outputs::Outputs;
pub(crate) use table::{mean, tables, text, without_empty_variants};

/// A run to make.
struct Job<'a> {
    seed: u64,
    variant: Option<&'a str>,
    scenario: &'a Scenario,
}

/// A finished run with its figures.
#[derive(Serialize)]
pub(crate) struct Run<'a> {
    pub(crate) seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) variant: Option<&'a str>,
    #[serde(flatten)]
    pub(crate) figures: RunFigures,
}

/// The frames and packets of a run, if they are wanted.
type Seen = (
    Option<Table<FrameRow>>,
    Option<Table<Passage<StreamPacket>>>,
);

pub(crate) fn run(args: &Args) -> Result<(), SimError> {
    let mut files = Files::default();
    let wanted = Wanted {
        file: &args.file,
        variant: args.variant.as_deref(),
        from: args.from,
        to: args.to,
        outside: Outside::allowing(args.allow_processes),
    };
    let input = input::read(&wanted, &mut files)?;
    let jobs = jobs(&input.loaded, args.seeds);
    let mut outputs = Outputs::create(args, &mut files, &input.text)?;
    let (frames, packets, plot) = outputs.wanted();
    let mut runs = Vec::with_capacity(jobs.len());
    let mut to_draw = None;
    parallel(
        &jobs,
        |index, job| {
            let shown = plot && index == 0;
            job.run(input.window, frames || shown, packets || shown)
        },
        |job, ran| {
            let (figures, seen) = ran?;
            outputs.record(&seen)?;
            if plot && to_draw.is_none() {
                to_draw = Some(seen);
            }
            runs.push(Run {
                seed: job.seed,
                variant: job.variant,
                figures,
            });
            Ok::<_, SimError>(())
        },
        bar(),
    )?;
    let variants = input.loaded.variants.iter();
    let variants: Vec<_> = variants
        .map(|(name, scenario)| (name.as_deref(), scenario))
        .collect();
    let tables = table::tables(&variants, &runs);
    if let (Some(seen), Some(job)) = (&to_draw, jobs.first()) {
        let figure = figure::draw(&args.file, &input, job, &runs, seen);
        outputs.draw(&figure, &tables)?;
    }
    outputs.json(&runs)?;
    outputs.finish()?;
    if args.json.is_none() {
        terminal::print(&table::text(&tables, args.markdown))?;
    }
    Ok(())
}

/// The jobs: for each seed, every variant.
fn jobs(loaded: &Loaded, seeds: Option<Seeds>) -> Vec<Job<'_>> {
    let Seeds(first, last) = seeds.unwrap_or(Seeds(loaded.seed, loaded.seed));
    let of = |seed| {
        loaded.variants.iter().map(move |(name, scenario)| Job {
            seed,
            variant: name.as_deref(),
            scenario,
        })
    };
    (first..=last).flat_map(of).collect()
}

impl Job<'_> {
    fn run(
        &self,
        window: Window,
        frames: bool,
        packets: bool,
    ) -> Result<(RunFigures, Seen), SimError> {
        let run = || mimosa_record::Run {
            seed: self.seed,
            variant: self.variant.map(str::to_owned),
            flows: self
                .scenario
                .flows
                .iter()
                .map(|flow| flow.name.clone())
                .collect(),
        };
        let mut seen = (
            frames.then(|| Table::new(run())),
            packets.then(|| Table::new(run())),
        );
        let mut ran = Ok(());
        let figures = mimosa_figures::measure(self.scenario, window, &mut seen, |observer| {
            ran = mimosa_sim::try_run(self.scenario, self.seed, observer);
        });
        ran.map_err(|failed| SimError::Controller {
            seed: self.seed,
            failed,
        })?;
        Ok((figures, seen))
    }
}
