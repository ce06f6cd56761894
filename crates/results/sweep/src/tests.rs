//! A small suite that is stopped, resumed and begun anew.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use mimosa_lab::{Choice, Record, Suite};
use mimosa_scenario::Files;

use crate::{Outputs, Store, SweepError, WholeFiles, run_suite, write_results};

/// The name of the program, for the stores of these tests.
const PROGRAM: &str = "test 1";
const INDEX: &str = r#"
title = "Small"
about = "Small."
page = "cases"
seeds = [1, 2]
controllers = ["pudica", "copa"]

[[case]]
name = "one"
title = "One"
source = "here"
file = "one.toml"
"#;
const SCENARIO: &str = "duration = \"1s\"\n[link]\nrate = \"9Mbit/s\"\n[[flow]]\n";
/// Two controllers with two seeds each.
const RUNS: usize = 4;

/// The files of the suite.
struct Given;

impl Files for Given {
    fn read(&mut self, path: &str) -> Result<String, String> {
        match path {
            "suite.toml" => Ok(INDEX.to_owned()),
            "one.toml" => Ok(SCENARIO.to_owned()),
            _ => Err("no such file".to_owned()),
        }
    }
}

fn suite() -> Suite {
    Suite::load("small", &mut Given, &[]).unwrap()
}

/// An empty folder for a test.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("mimosa-sweep-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn open(path: &Path, suite: &Suite, program: &str) -> Store {
    Store::open(path, suite, program, &mut WholeFiles).unwrap()
}

/// Runs all of the suite; returns its records, and how many were run for it.
fn run(suite: &Suite, store: &mut Store) -> (Vec<Record>, usize) {
    let mut jobs = 0;
    let progress = |progress: crate::Progress| jobs = progress.jobs;
    let records = run_suite(suite, &Choice::default(), store, progress).unwrap();
    (records, jobs)
}

#[test]
fn records_come_in_the_order_of_the_jobs_and_the_store_has_them() {
    let suite = suite();
    let path = scratch("order").join("runs.jsonl");
    let mut store = open(&path, &suite, PROGRAM);
    let (records, ran) = run(&suite, &mut store);
    let jobs = suite.jobs(&Choice::default()).unwrap();
    assert_eq!((records.len(), ran), (RUNS, RUNS));
    for (job, record) in jobs.iter().zip(&records) {
        assert_eq!(job.key, record.key);
        assert_eq!(suite.run(job).unwrap(), *record);
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = text.lines().collect();
    let head = format!(
        r#"{{"digest":"{:016x}","program":"test 1","suite":"small"}}"#,
        suite.digest
    );
    assert_eq!(lines[0], head);
    for (line, record) in lines[1..].iter().zip(&records) {
        assert_eq!(store.line(&record.key), Some(*line));
    }
    let mut in_memory = Store::in_memory(&suite);
    assert_eq!(run(&suite, &mut in_memory), (records, RUNS));
}

#[test]
fn a_stopped_run_goes_on_after_what_is_whole() {
    let suite = suite();
    let folder = scratch("resume");
    let path = folder.join("runs.jsonl");
    let (records, _) = run(&suite, &mut open(&path, &suite, PROGRAM));
    let whole = fs::read(&path).unwrap();
    let ends: Vec<_> = (0..whole.len()).filter(|at| whole[*at] == b'\n').collect();
    // Within the head, at the end of the head, within the third run and before its end, and
    // after all of them: how many runs are then left?
    for (kept, left) in [
        (ends[0] - 1, RUNS),
        (ends[0] + 1, RUNS),
        (ends[2] + 20, RUNS - 2),
        (ends[3], RUNS - 3),
        (whole.len(), 0),
    ] {
        fs::write(&path, &whole[..kept]).unwrap();
        let mut store = open(&path, &suite, PROGRAM);
        assert_eq!(run(&suite, &mut store), (records.clone(), left), "{kept}");
        // What half a line has left is gone.
        let text = fs::read_to_string(&path).unwrap();
        let lines = || text.lines().skip(1).map(serde_json::from_str::<Record>);
        assert!(lines().all(|record| record.is_ok()) && lines().count() == RUNS);
        let page = write_results(&suite, &records, &store, &folder, &mut WholeFiles).unwrap();
        let results = fs::read_to_string(page.with_file_name("results.jsonl")).unwrap();
        assert_eq!(results.as_bytes(), &whole[ends[0] + 1..]);
    }
}

#[test]
fn half_a_letter_at_the_end_loses_only_its_run() {
    let suite = suite();
    let path = scratch("letter").join("runs.jsonl");
    let (records, _) = run(&suite, &mut open(&path, &suite, PROGRAM));
    let mut text = fs::read(&path).unwrap();
    text.extend(b"{\"case\":\"\xc3");
    fs::write(&path, text).unwrap();
    let mut store = open(&path, &suite, PROGRAM);
    assert_eq!(run(&suite, &mut store), (records, 0));
}

#[test]
fn another_program_another_digest_and_a_fresh_store_begin_anew() {
    let mut suite = suite();
    let path = scratch("anew").join("runs.jsonl");
    let ran = |suite: &Suite, program: &str| run(suite, &mut open(&path, suite, program)).1;
    assert_eq!(ran(&suite, PROGRAM), RUNS);
    assert_eq!(ran(&suite, PROGRAM), 0);
    assert_eq!(ran(&suite, "test 2"), RUNS);
    assert_eq!(ran(&suite, "test 2"), 0);
    let mut before = open(&path, &suite, "test 2");
    suite.set_params("copa.delta=0.1").unwrap();
    let refused = run_suite(&suite, &Choice::default(), &mut before, |_| {});
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("open the store after"), "{error}");
    assert_eq!(ran(&suite, "test 2"), RUNS);
    let mut fresh = Store::fresh(&path, &suite, "test 2", &mut WholeFiles).unwrap();
    assert_eq!(run(&suite, &mut fresh).1, RUNS);
}

#[test]
fn what_is_not_in_the_suite_is_refused() {
    let suite = suite();
    let choice = Choice {
        cases: vec!["two".to_owned()],
        ..Choice::default()
    };
    let error = run_suite(&suite, &choice, &mut Store::in_memory(&suite), |_| {});
    let error = error.unwrap_err();
    assert!(matches!(error, SweepError::Suite(_)), "{error}");
    assert_eq!(
        error.to_string(),
        "small has no case `two`; there is one",
        "in the suite's own words"
    );
}

/// Refuses every file, as a program does whose inputs would be lost.
struct Refusing;

impl Outputs for Refusing {
    fn write(&mut self, _: &Path, _: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("it would replace an input".into())
    }
}

#[test]
fn a_refused_file_stays_as_it_was() {
    let suite = suite();
    let folder = scratch("refused");
    let path = folder.join("runs.jsonl");
    fs::write(&path, "an input").unwrap();
    let error = Store::open(&path, &suite, PROGRAM, &mut Refusing).unwrap_err();
    assert_eq!(error.to_string(), "it would replace an input");
    let mut store = Store::in_memory(&suite);
    let (records, _) = run(&suite, &mut store);
    let error = write_results(&suite, &records, &store, &folder, &mut Refusing).unwrap_err();
    assert_eq!(error.to_string(), "it would replace an input");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read(&path).unwrap(), b"an input");
}

/// Leaves the file at every path as it is.
struct Pretending;

impl Outputs for Pretending {
    fn write(&mut self, _: &Path, _: &[u8]) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

#[test]
fn a_full_disk_ends_the_suite() {
    let suite = suite();
    let full = Path::new("/dev/full");
    let mut store = Store::fresh(full, &suite, PROGRAM, &mut Pretending).unwrap();
    let error = run_suite(&suite, &Choice::default(), &mut store, |_| {}).unwrap_err();
    assert!(matches!(error, SweepError::Keep { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("cannot write /dev/full: "), "{text}");
    assert!(text.ends_with("make room and start again"), "{text}");
}
