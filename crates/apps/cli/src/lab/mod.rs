//! `mimosa lab`: runs a suite of scenarios for every controller, and makes a page of the results.

mod args;
mod error;
mod files;

use std::error::Error;
use std::fmt::Write;
use std::path::Path;

use mimosa_foreign::OutsideName;
use mimosa_lab::{Body, Choice, Embedded, Job, SUITES, Suite};
use mimosa_scenario::Files as _;
use mimosa_sweep::{Outputs, Store, this_program, write_results};

use crate::bar::bar;
use crate::beside::{Beside, Outside};
use crate::output::{Existing, Files};
use crate::sim::Seeds;
use crate::terminal::{print, say};
pub(crate) use args::Args;
use args::Command;
pub(crate) use error::LabError;

pub(crate) fn run(args: &Args) -> Result<(), LabError> {
    match &args.command {
        Command::List => list(),
        Command::Run(args) => run_suite(args),
    }
}

fn list() -> Result<(), LabError> {
    let mut text = String::new();
    for (name, _) in SUITES {
        let Some(mut files) = Embedded::named(name) else {
            continue;
        };
        let suite = Suite::load(name, &mut files, &[])?;
        let _ = writeln!(text, "{name}: {}", suite.title);
        for case in &suite.cases {
            let not = match case.body {
                Body::Carried(_) => "",
                Body::NotCarried(_) => " (not carried)",
            };
            let _ = writeln!(text, "  {:<16} {}{not}", case.name, case.title);
        }
    }
    Ok(print(&text)?)
}

fn run_suite(args: &args::Run) -> Result<(), LabError> {
    let mut files = Files::default();
    let outside = Outside::allowing(args.allow_processes);
    let mut suite = files::suite(&args.suite, args.traces.as_deref(), outside, &mut files)?;
    for name in &args.controllers {
        if let Some(outside) = OutsideName::of(name) {
            // Whoever writes a command here wants it to run.
            let mut here = Beside::within(Path::new(""), &mut files).with(Outside::All);
            let maker = here.outside(outside).map_err(LabError::Controller)?;
            suite.bring(name, maker)?;
        }
    }
    for params in &args.params {
        suite.set_params(params)?;
    }
    let choice = Choice {
        controllers: args.controllers.clone(),
        seeds: args.seeds.map(|Seeds(first, last)| (first, last)),
        cases: args.cases.clone(),
    };
    // Before there is a folder: what is chosen may not be in the suite.
    let jobs = suite.jobs(&choice)?;
    let folder = args.output.clone().unwrap_or_else(|| {
        let name = Path::new(&args.suite).file_name();
        Path::new("lab-results").join(name.unwrap_or_default())
    });
    std::fs::create_dir_all(&folder).map_err(|source| LabError::Folder {
        path: folder.clone(),
        source,
    })?;
    let runs = folder.join("runs.jsonl");
    let program = this_program(env!("CARGO_PKG_VERSION"));
    let open = if args.fresh {
        Store::fresh
    } else {
        Store::open
    };
    let mut store = open(&runs, &suite, &program, &mut files)?;
    let is_kept = |job: &&Job<'_>| store.line(&job.key).is_some();
    let (kept, all) = (jobs.iter().filter(is_kept).count(), jobs.len());
    if kept > 0 {
        say(format_args!("note: {kept} of {all} runs are done already"));
    }
    let records = mimosa_sweep::run_suite(&suite, &choice, &mut store, bar())?;
    let page = write_results(&suite, &records, &store, &folder, &mut files)?;
    Ok(print(&format!(
        "{} runs; {}\n",
        records.len(),
        page.display()
    ))?)
}

impl Outputs for Files {
    /// Writes no file that the command has read, or has written already.
    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        let mut output = self.create(path, Existing::Replace)?;
        output.put(bytes)?;
        Ok(output.finish()?)
    }
}
