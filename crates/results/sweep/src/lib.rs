//! Many runs on all cores, and suites of the lab that continue where they were stopped.
//!
//! [`run_suite`] runs what is chosen of a [`Suite`] and keeps each run in a [`Store`] at once:
//! a run that is kept already is not run again. [`write_results`] makes the result files of
//! them. [`parallel`] runs any other jobs in the same way. This crate is a driver: it starts
//! threads and writes files. It prints nothing; a callback is told the progress.
//!
//! ```
//! use mimosa_lab::{Choice, Embedded, Suite};
//! use mimosa_sweep::{Store, WholeFiles, run_suite, this_program, write_results};
//!
//! let mut files = Embedded::named("scoreboard").ok_or("no such suite")?;
//! let suite = Suite::load("scoreboard", &mut files, &[])?;
//! let choice = Choice {
//!     controllers: vec!["pudica".to_owned()],
//!     seeds: Some((1, 1)),
//!     cases: vec!["constant-8".to_owned()],
//! };
//! let folder = std::env::temp_dir().join(format!("mimosa-sweep-{}", std::process::id()));
//! std::fs::create_dir_all(&folder)?;
//! let runs = folder.join("runs.jsonl");
//! let program = this_program(env!("CARGO_PKG_VERSION"));
//!
//! let mut store = Store::open(&runs, &suite, &program, &mut WholeFiles)?;
//! let records = run_suite(&suite, &choice, &mut store, |progress| {
//!     eprintln!("{} of {} runs", progress.done, progress.jobs);
//! })?;
//! assert_eq!(records.len(), 2, "one of Pudica, and one of the oracle beside it");
//!
//! // Whoever opens the runs again has them.
//! let mut store = Store::open(&runs, &suite, &program, &mut WholeFiles)?;
//! let again = run_suite(&suite, &choice, &mut store, |progress| {
//!     assert_eq!(progress.jobs, 0, "there is nothing left to run");
//! })?;
//! assert_eq!(again, records);
//! let page = write_results(&suite, &records, &store, &folder, &mut WholeFiles)?;
//! assert!(page.ends_with("page.html"));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod outputs;
mod parallel;
mod results;
mod store;
#[cfg(test)]
mod tests;

use mimosa_lab::{Choice, Job, Record, Suite};

pub use error::SweepError;
pub use outputs::{Outputs, WholeFiles};
pub use parallel::{Progress, parallel};
pub use results::write_results;
pub use store::{Store, this_program};

/// Runs what `choice` names of `suite` on all cores, keeps each run in `store` when it is done,
/// and returns the records in the order of [`Suite::jobs`]. What `store` has already is not run
/// again, and `progress` does not count it.
///
/// # Errors
///
/// [`SweepError::Suite`] when the suite has not what is chosen, or a controller from outside the
/// program fails, [`SweepError::OtherSuite`] when
/// `store` is for another suite, and [`SweepError::Keep`] when a run cannot be kept. The runs
/// that were kept before an error stay, so that the next call continues after them.
pub fn run_suite(
    suite: &Suite,
    choice: &Choice,
    store: &mut Store,
    progress: impl FnMut(Progress),
) -> Result<Vec<Record>, SweepError> {
    store.check(suite)?;
    let jobs = suite.jobs(choice)?;
    let left: Vec<&Job<'_>> = jobs
        .iter()
        .filter(|job| store.line(&job.key).is_none())
        .collect();
    parallel(
        &left,
        |_, job| suite.run(job),
        |_, record| store.add(&record?),
        progress,
    )?;
    // From the lines, so that a resumed run and another one read the same numbers.
    jobs.iter()
        .filter_map(|job| store.line(&job.key))
        .map(|line| Ok(serde_json::from_str(line)?))
        .collect()
}
