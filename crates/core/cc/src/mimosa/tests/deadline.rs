//! Tests of the size that does best before a deadline.

use mimosa_units::{Bytes, Rate, TimeDelta};

use crate::mimosa::deadline::Deadline;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const LINK: Rate = Rate::from_kbps(8_000);
const DEADLINE: TimeDelta = TimeDelta::from_millis(50);

/// Frames of 10 kB, which take 10 ms of the link, that waited so many milliseconds.
fn after(waits: &[i64]) -> Deadline {
    let mut deadline = Deadline::default();
    for wait in waits {
        deadline.arrived(MS(wait + 10), Bytes::new(10_000), LINK);
    }
    deadline
}

fn best(waits: &[i64], punctuality: f64) -> Option<u64> {
    let size = after(waits).best(DEADLINE, punctuality, LINK);
    size.map(Bytes::get)
}

/// `count` frames of each of these waits.
fn each(waits: &[i64], count: usize) -> Vec<i64> {
    waits.repeat(count)
}

#[test]
fn the_size_weighs_the_bitrate_against_the_frames_that_are_late() {
    // With 30 kB half are in time, and with 8 kB all are: 15 against 8 kB in the mean, and with the
    // share squared 7.5 against 8.
    let waits = each(&[20, 42], 32);
    assert_eq!(best(&waits, 1.0), Some(30_000));
    assert_eq!(best(&waits, 2.0), Some(8_000));
}

#[test]
fn nothing_is_bound_while_few_are_late_or_all_must_be() {
    // 10 ms for itself, and 42 before: late. One in 20 counts, one in 32 does not.
    let mut one = each(&[20], 31);
    one.push(42);
    assert_eq!(best(&one, 3.0), None);
    one.push(42);
    assert!(best(&one, 3.0).is_some());
    assert_eq!(best(&each(&[50, 90], 32), 3.0), None, "even the smallest");
    assert_eq!(best(&each(&[42], 31), 3.0), None, "too few are known");
}

#[test]
fn the_newest_three_seconds_count() {
    let mut deadline = after(&each(&[42], 192));
    assert_eq!(deadline.best(DEADLINE, 3.0, LINK).unwrap().get(), 8_000);
    for _ in 0..192 {
        deadline.arrived(MS(55), Bytes::new(10_000), LINK);
    }
    assert_eq!(deadline.best(DEADLINE, 3.0, LINK).unwrap().get(), 5_000);
}
