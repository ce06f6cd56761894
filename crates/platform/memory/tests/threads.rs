//! What threads have freed goes back to the system. This test is a program of its own, since the memory that the system
//! tells is that of a whole process.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::thread;

use mimosa_memory::return_freed;

/// Threads that are there at the same time, so that glibc has a part of the memory for each.
const THREADS: usize = 6;
/// What each allocates: 8 MB in blocks of which every hundredth stays.
const BLOCKS: usize = 8_000;
const BLOCK: usize = 1_000;

/// Memory of this process at present, in megabytes; `None` where the system does not tell.
fn megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}

/// What a session leaves: most of its blocks are freed, and a few are kept by somebody else.
fn session() -> Vec<Vec<u8>> {
    let mut blocks: Vec<_> = (0..BLOCKS).map(|_| vec![1_u8; BLOCK]).collect();
    let mut number = 0;
    blocks.retain(|_| {
        number += 1;
        number % 100 == 0
    });
    blocks
}

#[test]
fn what_threads_have_freed_goes_back() {
    let begun = megabytes();
    let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(session)).collect();
    let kept: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    let before = megabytes();
    return_freed();
    let after = megabytes();
    // Systems other than Linux do not tell; there the run alone is the test.
    let (Some(begun), Some(before), Some(after)) = (begun, before, after) else {
        return;
    };
    let (freed, left) = (before - begun, after - begun);
    println!("{freed:.1} MB before, {left:.1} after");
    // Of 48 MB, most of which was freed before it is asked for.
    assert!(
        freed > 30.0,
        "{freed} MB: glibc has given them back by itself"
    );
    assert!(left < 0.5 * freed, "{left} MB of {freed} are left");
    assert!(kept.iter().flatten().all(|block| block == &[1; BLOCK]));
}
