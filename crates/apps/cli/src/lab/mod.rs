//! `mimosa lab`: runs a suite of scenarios for every controller, and makes a page of the results.

mod args;
mod error;
mod files;
mod store;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mimosa_lab::{Body, Choice, Embedded, Job, Record, SUITES, Suite};

use crate::output::{Existing, Files};
use crate::sim::{Seeds, sweep};
use crate::terminal::{print, say};
pub(crate) use args::Args;
use args::Command;
pub(crate) use error::LabError;
use store::Store;

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
    let mut suite = files::suite(&args.suite, args.traces.as_deref(), &mut files)?;
    for params in &args.params {
        suite.set_params(params)?;
    }
    let jobs = suite.jobs(&Choice {
        controllers: args.controllers.clone(),
        seeds: args.seeds.map(|Seeds(first, last)| (first, last)),
        cases: args.cases.clone(),
    })?;
    let folder = args.output.clone().unwrap_or_else(|| {
        let name = Path::new(&args.suite).file_name();
        Path::new("lab-results").join(name.unwrap_or_default())
    });
    std::fs::create_dir_all(&folder).map_err(|source| LabError::Folder {
        path: folder.clone(),
        source,
    })?;
    let head = head(&suite)?;
    let mut store = Store::open(&folder.join("runs.jsonl"), &mut files, &head, args.fresh)?;
    let left: Vec<&Job<'_>> = jobs
        .iter()
        .filter(|job| store.line(&job.key).is_none())
        .collect();
    if left.len() < jobs.len() {
        let kept = jobs.len() - left.len();
        let all = jobs.len();
        say(format_args!("note: {kept} of {all} runs are done already"));
    }
    sweep::run(
        &left,
        |_, job| suite.run(job),
        |_, record| store.add(&record),
    )?;
    write_results(&suite, &jobs, &store, (&folder, &mut files))
}

/// What stored results have to agree with to be used: these scenarios, run by this program.
fn head(suite: &Suite) -> Result<String, LabError> {
    let built = std::env::current_exe()
        .and_then(std::fs::metadata)
        .and_then(|file| Ok((file.len(), file.modified()?)))
        .map_or((0, 0), |(length, modified)| {
            let since = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
            (length, since.as_nanos())
        });
    let head = serde_json::json!({
        "suite": suite.name,
        "digest": format!("{:016x}", suite.digest),
        "program": format!("{} {:x} {:x}", env!("CARGO_PKG_VERSION"), built.0, built.1),
    });
    Ok(serde_json::to_string(&head)?)
}

/// Writes the runs in the order of the jobs, and the page about them, into `folder`, without
/// replacing a file that was read.
fn write_results(
    suite: &Suite,
    jobs: &[Job<'_>],
    store: &Store,
    (folder, taken): (&Path, &mut Files),
) -> Result<(), LabError> {
    let lines: Vec<_> = jobs.iter().filter_map(|job| store.line(&job.key)).collect();
    // Records are parsed from the lines, so that a resumed run and another one use the same
    // numbers.
    let records: Vec<Record> = lines
        .iter()
        .map(|line| serde_json::from_str(line))
        .collect::<Result<_, _>>()?;
    let page = mimosa_lab::page(suite, &records)?;
    let mut results = lines.join("\n");
    results.push('\n');
    let mut means = serde_json::to_string_pretty(&mimosa_lab::means(suite, &records))?;
    means.push('\n');
    let mut files = vec![
        ("means.json".to_owned(), means),
        ("results.jsonl".to_owned(), results),
        ("page.html".to_owned(), page.html),
        ("page.md".to_owned(), page.markdown),
    ];
    if !suite.claims.is_empty() {
        let verdicts = mimosa_lab::verdicts(suite, &records);
        let mut claims = serde_json::to_string_pretty(&verdicts)?;
        claims.push('\n');
        files.push(("claims.json".to_owned(), claims));
    }
    let drawings = page.figures.into_iter();
    files.extend(drawings.map(|drawing| (drawing.file, drawing.svg)));
    for (name, text) in files {
        let path: PathBuf = folder.join(name);
        let below = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        below.map_err(|source| LabError::Folder {
            path: path.clone(),
            source,
        })?;
        let mut output = taken.create(&path, Existing::Replace)?;
        output.put(text.as_bytes())?;
        output.finish()?;
    }
    let path = folder.join("page.html");
    Ok(print(&format!(
        "{} runs; {}\n",
        lines.len(),
        path.display()
    ))?)
}
