//! Many runs on all cores.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use indicatif::{ProgressBar, ProgressStyle};

/// Runs `work` for each job, on as many threads as there are cores, and gives
/// the results in the order of the jobs. Shows progress on a terminal.
pub(super) fn run<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let progress = if jobs.len() > 1 {
        ProgressBar::new(jobs.len() as u64)
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left") {
        progress.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(jobs.len()));
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else {
                        break;
                    };
                    let result = work(job);
                    let mut results = match results.lock() {
                        Ok(results) => results,
                        Err(poisoned) => poisoned.into_inner(),
                    };
                    results.push((index, result));
                    progress.inc(1);
                }
            });
        }
    });
    progress.finish_and_clear();
    let mut results = match results.into_inner() {
        Ok(results) => results,
        Err(poisoned) => poisoned.into_inner(),
    };
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}
