//! Whether the machine let its programs run: how well a stream goes on one that stands still says nothing about the
//! stream.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use mimosa_system::clock::{now, wait};

/// How often the clock is looked at.
const EVERY: Duration = Duration::from_millis(10);
/// A machine that stands still for longer than this loses more than a stream bears without harm: the time in which a lost
/// packet is useful ends before, and a feedback that is missing for so long has been taken for an outage.
const BORNE: Duration = Duration::from_millis(200);
/// How often is tried in all. On a machine that stands still each time, the last try decides.
const TRIES: usize = 4;

/// Does `act`, and again if it fails while the machine stands still for longer than a stream bears.
pub(crate) fn unless_still(act: impl Fn()) {
    tried(|| watched(|| catch_unwind(AssertUnwindSafe(&act))));
}

/// Attempts until one succeeds, or fails on a machine that ran its programs all the while; the last try decides. An
/// attempt says how it ended, and for how long the machine stood still.
fn tried(mut attempt: impl FnMut() -> (thread::Result<()>, Duration)) {
    for number in 1.. {
        let (result, longest) = attempt();
        let Err(failure) = result else {
            return;
        };
        if longest <= BORNE || number == TRIES {
            resume_unwind(failure);
        }
        eprintln!("once more: the machine stood still for {longest:?}");
    }
}

/// What `act` returns, and the longest time for which the machine stood still meanwhile.
fn watched<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut longest = Duration::ZERO;
            while !is_over.load(Ordering::Relaxed) {
                let due = now() + EVERY;
                wait(EVERY);
                longest = longest.max(now().saturating_duration_since(due));
            }
            longest
        });
        let result = act();
        is_over.store(true, Ordering::Relaxed);
        (result, watch.join().unwrap())
    })
}

#[test]
fn what_fails_in_a_standstill_is_tried_again_and_the_last_try_decides() {
    /// The number of attempts, and whether the last one failed, where each of these stood still for so many
    /// milliseconds and succeeded or not.
    fn after(attempts: &[(u64, bool)]) -> (usize, bool) {
        let mut count = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            tried(|| {
                let (longest, succeeds) = attempts[count];
                count += 1;
                let result = if succeeds {
                    Ok(())
                } else {
                    Err(Box::new(0) as _)
                };
                (result, Duration::from_millis(longest))
            });
        }));
        (count, ended.is_err())
    }
    assert_eq!(after(&[(950, true)]), (1, false));
    assert_eq!(after(&[(200, false)]), (1, true));
    assert_eq!(after(&[(950, false), (300, false), (10, true)]), (3, false));
    assert_eq!(after(&[(950, false), (10, false)]), (2, true));
    assert_eq!(after(&[(950, false); TRIES]), (TRIES, true));
}
