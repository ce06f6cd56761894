//! The time to encode a frame: `cargo bench -p mimosa-x264`.
//!
//! The benchmark encodes 1280x720 at 10 Mbit/s and 60 frames per second. The reference is
//! the median of C0 with one thread in the same run; the settings take turns, frame by
//! frame, so that whatever else the machine does affects all of them alike.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::time::Instant;

use mimosa_conformance::Clip;
use mimosa_facts::{Complexity, FrameId};
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{Encoder, FrameRequest, Recovery, Size};
use mimosa_x264::{Config, X264};

const FRAMES: u64 = 300;
/// The number of frames before the figures count.
const WARM_UP: u64 = 30;
/// A frame's share of 10 Mbit/s.
const BUDGET: Bytes = Bytes::new(20_833);

/// One setting and its figures.
struct Entry {
    name: &'static str,
    complexity: Complexity,
    encoder: X264,
    milliseconds: Vec<f64>,
    bytes: u64,
    attempts: u32,
}

fn main() {
    let size = Size::new(1280, 720).unwrap();
    let mut clip = Clip::new(size, 8);
    let open = |threads| {
        X264::open(Config {
            threads,
            ..Config::new(size, 60)
        })
        .unwrap()
    };
    let mut entries = [
        ("C0", Complexity::C0, 1),
        ("C0, 2 threads", Complexity::C0, 2),
        ("C0Plus", Complexity::C0Plus, 1),
        ("C1", Complexity::C1, 1),
        ("C2", Complexity::C2, 1),
        ("C2, 2 threads", Complexity::C2, 2),
    ]
    .map(|(name, complexity, threads)| Entry {
        name,
        complexity,
        encoder: open(threads),
        milliseconds: Vec::new(),
        bytes: 0,
        attempts: 0,
    });
    for number in 0..FRAMES {
        let picture = clip.picture(number);
        for entry in &mut entries {
            let request = FrameRequest {
                frame: FrameId(number),
                budget: BUDGET,
                interval: TimeDelta::from_micros(16_667),
                complexity: entry.complexity,
                recovery: Recovery::None,
            };
            let begin = Instant::now();
            let frame = entry.encoder.encode(&picture, &request).unwrap();
            let took = begin.elapsed().as_secs_f64() * 1e3;
            if number >= WARM_UP {
                entry.milliseconds.push(took);
                entry.bytes += frame.data.len() as u64;
                entry.attempts += frame.attempts;
            }
        }
    }
    for entry in &mut entries {
        entry.milliseconds.sort_by(f64::total_cmp);
    }
    let percentile = |entry: &Entry, percent| {
        let last = entry.milliseconds.len() - 1;
        entry.milliseconds[last * percent / 100]
    };
    let reference = percentile(&entries[0], 50);
    println!("reference: {reference:.2} ms, the median of C0 with one thread\n");
    println!(
        "| setting | p50, times the reference | p99 | p50, ms | p99, ms | of the budget | attempts per frame |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for entry in &entries {
        let (half, most) = (percentile(entry, 50), percentile(entry, 99));
        let frames = (FRAMES - WARM_UP) as f64;
        println!(
            "| {} | {:.2} | {:.2} | {half:.1} | {most:.1} | {:.3} | {:.3} |",
            entry.name,
            half / reference,
            most / reference,
            entry.bytes as f64 / frames / BUDGET.get() as f64,
            f64::from(entry.attempts) / frames,
        );
    }
}
