//! The time to turn a screen's pixels into a picture, as a multiple of the time to copy
//! them in the same run.
//!
//! `cargo bench -p mimosa-video`

use std::hint::black_box;
use std::time::{Duration, Instant};

use mimosa_video::{Picture, Size};

const ROUNDS: usize = 200;

fn main() {
    for text in ["1280x720", "1920x1080"] {
        let Ok(size) = text.parse::<Size>() else {
            continue;
        };
        let pixels: Vec<u8> = (0..size.luma_len() * 4)
            .map(|i| (i * 7 + i / 1000).to_le_bytes()[0])
            .collect();
        let mut copy = pixels.clone();
        let mut picture = Picture::new(size);
        let reference = median(|| copy.copy_from_slice(black_box(&pixels)));
        let taken = median(|| {
            // The buffer is as long as the picture needs.
            let _ = black_box(&mut picture).draw_bgra(black_box(&pixels));
        });
        println!(
            "{text}: {:.2} ms, {:.1} times a copy",
            taken.as_secs_f64() * 1e3,
            taken.as_secs_f64() / reference.as_secs_f64()
        );
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark")]
fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<_> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
