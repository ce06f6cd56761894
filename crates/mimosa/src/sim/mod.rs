//! `mimosa sim`: runs a scenario for each seed and writes what came out.

mod error;
mod sweep;
mod table;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use mimosa_sim::scenario::Files;
use mimosa_sim::{Loaded, Outcome, Scenario, Window};
use mimosa_units::{Time, TimeDelta};
use serde::Serialize;

use error::SimError;

/// Arguments of `mimosa sim`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario file (TOML).
    file: PathBuf,

    /// Seeds to run, both ends included; without it the file's own.
    #[arg(long, value_name = "A..B", value_parser = seeds)]
    seeds: Option<Seeds>,

    /// Write one JSON object per seed and line; `-` for standard output.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,

    /// Count only what happens from this time on, e.g. `3s`.
    #[arg(long, value_name = "T", default_value = "0s")]
    from: TimeDelta,

    /// Count only what happens before this time.
    #[arg(long, value_name = "T")]
    to: Option<TimeDelta>,

    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
}

/// First and last seed.
#[derive(Clone, Copy)]
struct Seeds(u64, u64);

/// Reads `7` or `1..16`.
fn seeds(text: &str) -> Result<Seeds, String> {
    let mend = || format!("`{text}` is no range of seeds; write e.g. 1..16 or 7");
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| mend());
    let (first, last) = match text.split_once("..") {
        Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return Err(format!("{first} comes after {last}; write {last}..{first}"));
    }
    Ok(Seeds(first, last))
}

/// One run: what was run, and what came out.
#[derive(Serialize)]
struct Run<'a> {
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<&'a str>,
    #[serde(flatten)]
    outcome: Outcome,
}

pub(crate) fn run(args: &Args) -> Result<(), SimError> {
    let loaded = load(&args.file)?;
    let seeds = args.seeds.unwrap_or(Seeds(loaded.seed, loaded.seed));
    let window = window(args, &loaded)?;
    let jobs: Vec<_> = (seeds.0..=seeds.1)
        .flat_map(|seed| loaded.variants.iter().map(move |variant| (seed, variant)))
        .collect();
    let outcomes = sweep::run(&jobs, |(seed, (_, scenario))| {
        mimosa_sim::run(scenario, *seed, window, &mut ())
    });
    let runs: Vec<_> = jobs
        .iter()
        .zip(outcomes)
        .map(|((seed, (name, _)), outcome)| Run {
            seed: *seed,
            variant: name.as_deref(),
            outcome,
        })
        .collect();
    if let Some(path) = &args.json {
        json(path, &runs)?;
    } else {
        table::print(&loaded, &runs, args.markdown)?;
    }
    Ok(())
}

/// Reads the scenario, and prints what was not taken literally.
fn load(path: &Path) -> Result<Loaded, SimError> {
    /// Paths in a scenario count from its own folder.
    struct Beside(PathBuf);
    impl Files for Beside {
        fn read(&mut self, path: &str) -> Result<String, String> {
            std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
        }
    }
    let text = std::fs::read_to_string(path).map_err(|source| SimError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mut folder = Beside(path.parent().unwrap_or(Path::new("")).to_owned());
    let loaded = mimosa_sim::load(&text, &path.display().to_string(), &mut folder)?;
    /// More notes than this would bury everything else.
    const SHOWN: usize = 5;
    for (place, note) in loaded.notes.iter().take(SHOWN) {
        eprintln!("note: {place}: {note}");
    }
    if let Some(more) = loaded.notes.len().checked_sub(SHOWN).filter(|n| *n > 0) {
        eprintln!("note: and {more} lines more of that kind");
    }
    Ok(loaded)
}

fn window(args: &Args, loaded: &Loaded) -> Result<Window, SimError> {
    let shortest = loaded.variants.iter().map(|(_, s): &(_, Scenario)| s.duration);
    let end = shortest.min().unwrap_or(TimeDelta::ZERO);
    let to = args.to.unwrap_or(end);
    if args.from >= to || to > end {
        return Err(SimError::Window {
            from: args.from,
            to,
            end,
        });
    }
    Ok(Window {
        from: Time::ZERO + args.from,
        to: Time::ZERO + to,
    })
}

fn json(path: &Path, runs: &[Run]) -> Result<(), SimError> {
    let mut text = Vec::new();
    for run in runs {
        serde_json::to_writer(&mut text, run).map_err(SimError::Json)?;
        text.push(b'\n');
    }
    write(path, &text)
}

/// Writes to the file at `path`, or to standard output for `-`.
fn write(path: &Path, text: &[u8]) -> Result<(), SimError> {
    let result = if path == Path::new("-") {
        let mut out = BufWriter::new(std::io::stdout().lock());
        out.write_all(text).and_then(|()| out.flush())
    } else {
        std::fs::write(path, text)
    };
    match result {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => Err(SimError::Write {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}
