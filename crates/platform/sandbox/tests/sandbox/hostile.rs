//! Processes that answer as no decoder does.

use std::time::{Duration, Instant};

use mimosa_facts::Codec;
use mimosa_sandbox::{BadAnswer, Death, Outcome, Program, SandboxError, Sandboxed, Stop};
use mimosa_video::Plane;

use crate::PUPPET;

fn liar(how: &str) -> Result<Sandboxed, SandboxError> {
    Sandboxed::start(Program::new(PUPPET, ["lie", how]), 1, Stop::default())
}

fn first(how: &str) -> Outcome {
    liar(how).unwrap().decode(7, Codec::H264, b"frame").unwrap()
}

fn death(how: &str) -> Death {
    match first(how) {
        Outcome::Replaced(death) => death,
        other => panic!("{how}: {other:?}"),
    }
}

#[test]
fn one_that_is_not_ready_is_an_error_with_its_reason() {
    let error = liar("unable").unwrap_err();
    assert_eq!(
        error.to_string(),
        "the decoder's process says: it has  [1mno filter"
    );
    let error = liar("never").unwrap_err();
    assert!(
        matches!(error, SandboxError::Unready(Death::Ended(0))),
        "{error}"
    );
    let error = liar("early").unwrap_err();
    let expected = Death::Nonsense(BadAnswer::OutOfTurn);
    assert!(
        matches!(&error, SandboxError::Unready(death) if *death == expected),
        "{error}"
    );
    let program = Program::new("/nowhere/mimosa", ["decoder-process"]);
    let error = Sandboxed::start(program, 1, Stop::default()).unwrap_err();
    assert!(matches!(error, SandboxError::Start(_)), "{error}");
}

/// A kernel without filters of system calls is told by name.
#[test]
fn without_filters_there_is_no_decoder() {
    let program = Program::new(PUPPET, ["old-kernel"]);
    let error = Sandboxed::start(program, 1, Stop::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the decoder's process says: the kernel takes no filter of system calls (seccomp): \
         Error calling `seccomp`: Function not implemented (os error 38)"
    );
}

#[test]
fn nonsense_ends_the_process() {
    let number = BadAnswer::Number {
        expected: 7,
        got: 8,
    };
    assert_eq!(death("other"), Death::Nonsense(number));
    assert_eq!(death("again"), Death::Nonsense(BadAnswer::OutOfTurn));
    assert_eq!(death("noise"), Death::Nonsense(BadAnswer::Meaningless));
    assert_eq!(death("short"), Death::Nonsense(BadAnswer::Length(1)));
    assert_eq!(death("end"), Death::Ended(0));
}

#[test]
fn silence_ends_the_process() {
    assert_eq!(death("silence"), Death::Silent(4));
}

/// Whoever leaves does not wait for a process that does not answer.
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures a wait")]
fn a_wait_is_stopped_from_elsewhere() {
    let stop = Stop::default();
    let program = Program::new(PUPPET, ["lie", "silence"]);
    let mut decoder = Sandboxed::start(program, 1, stop.clone()).unwrap();
    let begun = Instant::now();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        stop.stop();
    });
    let error = decoder.decode(7, Codec::H264, b"frame").unwrap_err();
    assert!(matches!(error, SandboxError::GivenUp { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(2));
    stopper.join().unwrap();
}

/// A picture that is written while it is copied has wrong samples, and they stay as they were copied.
#[test]
fn memory_that_changes_is_a_wrong_picture_and_nothing_else() {
    let Outcome::Picture(picture) = first("restless") else {
        panic!("no picture");
    };
    let copied = |plane| {
        picture
            .view()
            .rows(plane)
            .flatten()
            .copied()
            .collect::<Vec<u8>>()
    };
    assert_eq!(copied(Plane::Y), copied(Plane::Y));
    assert_eq!(copied(Plane::V).len(), 320 * 240);
}

#[test]
fn the_largest_picture_that_may_be_claimed_is_there() {
    let Outcome::Picture(picture) = first("largest") else {
        panic!("no picture");
    };
    assert_eq!(picture.view().rows(Plane::V).count(), 4_096);
}

/// A request that is larger than what the socket holds, to a process that does not read.
#[test]
fn a_process_that_takes_nothing_is_not_waited_for() {
    let mut decoder = liar("silence").unwrap();
    decoder.begin(1, 0, &[1]);
    let frame = vec![0; 8 << 20];
    let outcome = decoder.decode(1, Codec::H264, &frame).unwrap();
    assert!(
        matches!(outcome, Outcome::Replaced(Death::Silent(4))),
        "{outcome:?}"
    );
}
