//! An encoder that is closed leaves its pictures' memory to the system. This test is a program of its own, since
//! the memory that the system tells is that of a whole process.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_conformance::Clip;
use mimosa_facts::{Complexity, FrameId};
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{Encoder, FrameRequest, Recovery, Size};
use mimosa_x264::{Config, X264};

/// Memory of this process at present, in megabytes.
fn megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}

#[test]
fn what_an_encoder_took_it_gives_back() {
    let size = Size::new(1280, 720).unwrap();
    let picture = Clip::new(size, 8).picture(0);
    let before = megabytes();
    let mut most = 0.0_f64;
    let mut others = Vec::new();
    // From the first block on that is freed, glibc takes those of its size from where small ones are, unless it is
    // told otherwise; and there whatever is allocated later keeps what is below it.
    for _ in 0..3 {
        let mut encoder = X264::open(Config::new(size, 60)).unwrap();
        for number in 0..12 {
            let request = FrameRequest {
                frame: FrameId(number),
                budget: Bytes::new(20_833),
                interval: TimeDelta::from_micros(16_667),
                complexity: Complexity::C0,
                recovery: Recovery::None,
            };
            encoder.encode(&picture, &request).unwrap();
        }
        others.push(vec![1_u8; 900_000]);
        most = most.max(megabytes().unwrap_or(0.0));
    }
    // Systems other than Linux do not tell; there the run alone is the test.
    assert_eq!(others.len(), 3);
    if let Some((before, after)) = before.zip(megabytes()) {
        assert!(most - before > 20.0, "{before} MB, then {most} at most");
        assert!(
            after - before < 10.0,
            "{before} MB, then {most} at most, and {after} at the end"
        );
    }
}
