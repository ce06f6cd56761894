//! The time to measure a picture, as a ratio to the time of a copy of the picture.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use mimosa_video::Picture;
use mimosa_video::complexity::{Kind, Measure};

const ROUNDS: usize = 60;

/// Two pictures: noise in patches of four pixels, and the same noise shifted.
fn pictures() -> [Picture; 2] {
    [0, 12].map(|shift| {
        let mut picture = Picture::new("1280x720".parse().unwrap());
        let [luma, ..] = picture.planes_mut();
        for (at, sample) in luma.iter_mut().enumerate() {
            let (x, y) = ((at % 1280 + shift) / 4, at / 1280 / 4);
            let hash = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761) >> 8;
            *sample = 50 + u8::try_from(hash % 64).unwrap();
        }
        picture
    })
}

#[expect(clippy::disallowed_methods, reason = "a benchmark has a clock")]
fn median(mut work: impl FnMut(usize)) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|round| {
            let begun = Instant::now();
            work(round);
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn main() {
    let pictures = pictures();
    let copy = median(|round| {
        black_box(pictures[round % 2].clone());
    });
    println!("copy of a picture at 1280x720: {copy:?}");
    for kind in [Kind::Motion, Kind::Difference] {
        let mut measure = Measure::new(kind);
        let took = median(|round| {
            black_box(measure.of(&pictures[round % 2]));
        });
        let ratio = took.as_secs_f64() / copy.as_secs_f64();
        println!("{kind:?}: {took:?}, {ratio:.1} copies");
    }
}
