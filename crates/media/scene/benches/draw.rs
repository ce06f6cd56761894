//! The time to draw a picture: `cargo bench -p mimosa-scene`.
//!
//! Every figure is the median of ten seconds of pictures at 60 per second while the ship
//! shoots, and stands beside a reference timed in the same run: a plain copy of the same
//! picture.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::hint::black_box;
use std::time::Instant;

use mimosa_scene::Scene;
use mimosa_units::{TimeDelta, nearest_rank};
use mimosa_video::{Picture, Size};

const PICTURES: u32 = 600;

/// The milliseconds that `work` takes.
fn time(work: impl FnOnce()) -> f64 {
    let begin = Instant::now();
    work();
    begin.elapsed().as_secs_f64() * 1e3
}

/// The `share` quantile of `times`.
fn quantile(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    nearest_rank(times, share).unwrap()
}

fn main() {
    println!("| size | ms to make | ms per picture | 99th percentile | times a copy |");
    println!("|---|--:|--:|--:|--:|");
    for text in ["640x360", "1280x720", "1920x1080", "3840x2160"] {
        let size: Size = text.parse().unwrap();
        let mut picture = Picture::new(size);
        let mut copy = picture.clone();
        let mut scene = None;
        let made = time(|| scene = Some(Scene::new(size, 1)));
        let mut scene = scene.unwrap();
        let (mut draws, mut copies) = (Vec::new(), Vec::new());
        for _ in 0..PICTURES {
            let step = TimeDelta::from_micros(16_667);
            draws.push(time(|| scene.draw(step, black_box(&mut picture))));
            copies.push(time(|| {
                for (to, from) in copy.planes_mut().into_iter().zip(picture.planes()) {
                    to.copy_from_slice(black_box(from));
                }
            }));
        }
        let (draw, plain) = (quantile(&mut draws, 0.5), quantile(&mut copies, 0.5));
        println!(
            "| {text} | {made:.0} | {draw:.2} | {:.2} | {:.1} |",
            quantile(&mut draws, 0.99),
            draw / plain,
        );
    }
}
