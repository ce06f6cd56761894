//! Makes many runs on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use indicatif::{ProgressBar, ProgressStyle};

/// Runs `work` for each job, on as many threads as there are cores, and passes the results to
/// `take` as early as possible, in the order of the jobs. Stops at the first error of `take`. Shows
/// progress on a terminal.
pub(crate) fn run<J: Sync, R: Send, E>(
    jobs: &[J],
    work: impl Fn(usize, &J) -> R + Sync,
    mut take: impl FnMut(&J, R) -> Result<(), E>,
) -> Result<(), E> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let progress = progress(jobs.len());
    let next = AtomicUsize::new(0);
    // Bounded, so that results do not pile up before a slow disk.
    let (results, finished) = mpsc::sync_channel(cores);
    let outcome = std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            let (results, next, work) = (results.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(index) else {
                        break;
                    };
                    // After an error nothing takes results any more.
                    if results.send((index, work(index, job))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(results);
        let mut early = BTreeMap::new();
        let mut turns = jobs.iter().enumerate().peekable();
        for (index, result) in finished {
            progress.inc(1);
            early.insert(index, result);
            while let Some((turn, job)) = turns.peek()
                && let Some(result) = early.remove(turn)
            {
                take(job, result)?;
                turns.next();
            }
        }
        Ok(())
    });
    progress.finish_and_clear();
    outcome
}

fn progress(jobs: usize) -> ProgressBar {
    if jobs < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(jobs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..200).collect();
        let mut seen = Vec::new();
        let result: Result<(), ()> = run(
            &jobs,
            |_, job| {
                // The first of every seven jobs takes by far the longest.
                let work = if job % 7 == 0 { 200_000 } else { 10 };
                (0..work).fold(*job, |sum, _| std::hint::black_box(sum))
            },
            |job, result| {
                assert_eq!(*job, result);
                seen.push(result);
                Ok(())
            },
        );
        assert_eq!((result, seen), (Ok(()), jobs));
    }

    #[test]
    fn an_error_ends_the_sweep() {
        let jobs: Vec<usize> = (0..100_000).collect();
        let done = AtomicUsize::new(0);
        let result = run(
            &jobs,
            |_, _| done.fetch_add(1, Ordering::Relaxed),
            |job, _| if *job == 3 { Err("full") } else { Ok(()) },
        );
        assert_eq!(result, Err("full"));
        assert!(done.into_inner() < jobs.len());
    }
}
