//! Many jobs on all cores.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

/// How far a sweep has come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Progress {
    /// How many jobs are done.
    pub done: usize,
    /// How many jobs there are.
    pub jobs: usize,
}

/// Runs `work` for each job, on as many threads as there are cores, and hands the results to
/// `take` as soon as may be, in the order of the jobs. `work` is given a job's place among
/// `jobs`, and the job.
///
/// `progress` is told how far the sweep is before the first job begins and after each that
/// ends. It is dropped before this function returns.
///
/// ```
/// use mimosa_sweep::parallel;
///
/// let mut squares = Vec::new();
/// parallel(
///     &[3, 1, 2],
///     |_, job| job * job,
///     |job, square| {
///         squares.push((*job, square));
///         Ok::<(), std::io::Error>(())
///     },
///     |progress| eprintln!("{} of {}", progress.done, progress.jobs),
/// )?;
/// assert_eq!(squares, [(3, 9), (1, 1), (2, 4)]);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The first error that `take` gives. No job begins after it, and the results of those that
/// are under way are dropped.
pub fn parallel<J: Sync, R: Send, E>(
    jobs: &[J],
    work: impl Fn(usize, &J) -> R + Sync,
    mut take: impl FnMut(&J, R) -> Result<(), E>,
    mut progress: impl FnMut(Progress),
) -> Result<(), E> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut so_far = Progress {
        done: 0,
        jobs: jobs.len(),
    };
    progress(so_far);
    let next = AtomicUsize::new(0);
    // Bounded, so that results do not pile up before a slow disk.
    let (results, finished) = mpsc::sync_channel(cores);
    std::thread::scope(|scope| {
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
            so_far.done += 1;
            progress(so_far);
            early.insert(index, result);
            while let Some((turn, job)) = turns.peek()
                && let Some(result) = early.remove(turn)
            {
                take(job, result)?;
                turns.next();
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let jobs: Vec<u64> = (0..200).collect();
        let mut seen = Vec::new();
        let mut told = Vec::new();
        let result: Result<(), ()> = parallel(
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
            |progress| told.push((progress.done, progress.jobs)),
        );
        assert_eq!((result, seen), (Ok(()), jobs));
        assert!(told.into_iter().eq((0..=200).map(|done| (done, 200))));
    }

    #[test]
    fn an_error_ends_the_sweep() {
        let jobs: Vec<usize> = (0..100_000).collect();
        let done = AtomicUsize::new(0);
        let mut taken = Vec::new();
        let result = parallel(
            &jobs,
            |_, _| done.fetch_add(1, Ordering::Relaxed),
            |job, _| {
                taken.push(*job);
                if *job == 3 { Err("full") } else { Ok(()) }
            },
            |_| {},
        );
        assert_eq!((result, taken), (Err("full"), vec![0, 1, 2, 3]));
        assert!(done.into_inner() < jobs.len());
    }

    #[test]
    fn no_jobs_are_no_error() {
        let mut told = Vec::new();
        let result: Result<(), ()> = parallel(
            &[0; 0],
            |_, _| (),
            |_, ()| Err(()),
            |progress| told.push(progress),
        );
        assert_eq!(result, Ok(()));
        assert_eq!(told, [Progress { done: 0, jobs: 0 }]);
    }
}
