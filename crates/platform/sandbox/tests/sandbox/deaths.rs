//! A process that ends is replaced, a few times, and none is left behind.

use std::time::{Duration, Instant};

use mimosa_facts::Codec;
use mimosa_sandbox::{Death, Outcome, SandboxError, Sandboxed, Stop};
use rustix::process::{Pid, Signal, kill_process};

use crate::stream::{h264, samples};
use crate::{children, decoder};

/// Sends a signal. `SEGV` would not do: Rust's handler for full stacks takes the first one, and waits for the
/// fault to come again.
fn kill(decoder: &Sandboxed, signal: Signal) {
    let id = Pid::from_raw(decoder.process_id().cast_signed()).unwrap();
    kill_process(id, signal).unwrap();
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it waits for a process, and measures a wait"
)]
fn another_has_its_place_at_once_and_goes_on_with_a_keyframe() {
    let frames = h264("320x180", 10, 2);
    let mut decoder = Sandboxed::start(decoder(), 1, Stop::default()).unwrap();
    let mut expected = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        let outcome = decoder.decode(number as u64, Codec::H264, frame).unwrap();
        let Outcome::Picture(picture) = outcome else {
            panic!("{outcome:?}");
        };
        expected.push(samples(&picture.view()));
    }
    // The one that waits has had the time of some frames.
    std::thread::sleep(Duration::from_millis(1_500));
    let before = decoder.process_id();
    kill(&decoder, Signal::ILL);
    let begun = Instant::now();
    let outcome = decoder.decode(10, Codec::H264, &frames[9]).unwrap();
    let took = begun.elapsed();
    assert!(
        matches!(outcome, Outcome::Replaced(Death::Signal(libc::SIGILL))),
        "{outcome:?}"
    );
    // Two frames at 30 a second.
    assert!(took < Duration::from_millis(66), "{took:?}");
    assert_ne!(decoder.process_id(), before);
    // The first frame is a keyframe.
    for (number, frame) in frames.iter().enumerate() {
        let outcome = decoder.decode(number as u64, Codec::H264, frame).unwrap();
        let Outcome::Picture(picture) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(
            samples(&picture.view()) == expected[number],
            "frame {number}"
        );
    }
}

/// A process that slices have ended is replaced with the frame.
#[test]
fn after_slices_as_well() {
    let frames = h264("320x180", 2, 2);
    let mut decoder = Sandboxed::start(decoder(), 1, Stop::default()).unwrap();
    kill(&decoder, Signal::KILL);
    for from in 0..3 {
        decoder.begin(0, from, &frames[0][..40]);
    }
    let outcome = decoder.decode(0, Codec::H264, &frames[0]).unwrap();
    let Outcome::Replaced(death) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(death.to_string(), "it was killed (signal 9)");
    let outcome = decoder.decode(0, Codec::H264, &frames[0]).unwrap();
    assert!(matches!(outcome, Outcome::Picture(_)), "{outcome:?}");
}

/// Clones of a program count together, as the sessions of a client do.
#[test]
fn a_fifth_death_is_the_last() {
    let frames = h264("320x180", 1, 1);
    let program = decoder();
    let mut deaths = 0;
    let error = 'all: loop {
        let mut decoder = Sandboxed::start(program.clone(), 1, Stop::default()).unwrap();
        for _ in 0..2 {
            kill(&decoder, Signal::SYS);
            deaths += 1;
            match decoder.decode(0, Codec::H264, &frames[0]) {
                Ok(Outcome::Replaced(_)) => {}
                Ok(other) => panic!("{other:?}"),
                Err(error) => break 'all error,
            }
        }
    };
    assert_eq!(deaths, 5);
    assert!(
        matches!(error, SandboxError::GivenUp { deaths: 5, .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains(
            "ended the decoder's process 5 times, the last time because it asked the system for something"
        ),
        "{error}"
    );
}

/// Whoever ends ends its processes, those that wait among them. Nothing is left, not even a zombie.
#[test]
fn none_is_left_behind() {
    let frames = h264("320x180", 1, 1);
    // Other tests run beside this one, so that their processes may come and go.
    let mut decoder = Sandboxed::start(decoder(), 1, Stop::default()).unwrap();
    decoder.decode(0, Codec::H264, &frames[0]).unwrap();
    let first = decoder.process_id();
    kill(&decoder, Signal::ILL);
    decoder.decode(0, Codec::H264, &frames[0]).unwrap();
    decoder.decode(0, Codec::H264, &frames[0]).unwrap();
    let second = decoder.process_id();
    assert!(!children().contains(&first) && children().contains(&second));
    drop(decoder);
    assert!(!children().contains(&second));
}

/// The kernel ends a process with the thread that has started it, however that ends.
#[test]
#[expect(clippy::disallowed_methods, reason = "it waits for a process")]
fn processes_end_with_the_thread_that_has_started_them() {
    let thread = std::thread::spawn(|| {
        let decoder = Sandboxed::start(decoder(), 1, Stop::default()).unwrap();
        let id = decoder.process_id();
        // As if the thread had no time to clean up.
        std::mem::forget(decoder);
        id
    });
    let id = thread.join().unwrap();
    let status = format!("/proc/{id}/status");
    let is_over = || {
        // Nobody waits for it here, so that it stays a zombie.
        std::fs::read_to_string(&status).is_ok_and(|status| status.contains("State:\tZ"))
    };
    let over = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_over()
    });
    assert!(over, "{}", std::fs::read_to_string(&status).unwrap());
}
