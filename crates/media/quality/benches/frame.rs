//! Time to compare a frame with another: `cargo bench -p mimosa-quality`.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::hint::black_box;
use std::time::Instant;

use mimosa_quality::{Frame, FrameDifference, PlaneSize};

const ROUNDS: usize = 100;

fn main() {
    for (width, height) in [(1_280, 720), (1_920, 1_080)] {
        let size = PlaneSize { width, height };
        let frame = |factor: usize| {
            let samples = (0..size.frame_len()).map(|i| (i * factor + i / 999).to_le_bytes()[0]);
            Frame::new(size, samples.collect()).unwrap()
        };
        let (reference, other) = (frame(7), frame(11));
        let mut times: Vec<_> = (0..ROUNDS)
            .map(|_| {
                let start = Instant::now();
                let _ = black_box(FrameDifference::between(
                    black_box(&reference),
                    black_box(&other),
                ));
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        let median = times[ROUNDS / 2].as_secs_f64();
        println!(
            "{size}: {:.2} ms, {:.0} frames a second",
            median * 1e3,
            1.0 / median
        );
    }
}
