//! What the sandbox costs: `cargo bench -p mimosa-sandbox`.
//!
//! A stream of libx264 with eight slices a frame, as a host sends it, is decoded at its own pace of 60 frames a
//! second, by a decoder in this process and by one in a process that can reach nothing, in turn and each
//! first as often as the other. With *slices*, all but the last slice come [`AHEAD`] before the frame, as
//! from a network; what is measured begins with the whole frame in both cases, and ends with a picture that
//! may be shown.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::time::{Duration, Instant};

use mimosa_facts::{Codec, Complexity, FrameId};
use mimosa_sandbox::{Local, Outcome, Program, Sandboxed, Stop, serve};
use mimosa_scene::Scene;
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{Encoder, FrameRequest, Picture, Recovery, Size};
use mimosa_x264::X264;

/// How many frames are decoded in each row of the table, and how many before they count.
const FRAMES: usize = 2_000;
const WARM_UP: usize = 60;
/// Frames that are encoded; they repeat, from their keyframe on.
const ENCODED: usize = 240;
const INTERVAL: Duration = Duration::from_micros(16_667);
/// From the first slices of a frame to its last.
const AHEAD: Duration = Duration::from_millis(5);
/// The command with which the benchmark is the decoder's process.
const CHILD: &str = "decoder-process";
/// The clock's ticks in a second in `/proc/PID/stat` (proc(5); 100 on every Linux in use).
const TICKS: f64 = 100.0;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == CHILD) {
        return serve(arguments[2].parse().unwrap());
    }
    let begun = Instant::now();
    let first = Sandboxed::start(Program::own(CHILD), 1, Stop::default()).unwrap();
    println!(
        "a process is ready after {:.0} ms\n",
        begun.elapsed().as_secs_f64() * 1e3
    );
    drop(first);
    println!(
        "| | in process: p50, ms | p95 | sandboxed: p50 | p95 | cost: p50 | p95 | processor, in process: ms a frame | sandboxed, both sides | memory of its process, MB |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (text, budget) in [("1280x720", 20_833), ("1920x1080", 41_667)] {
        let frames = encode(text.parse().unwrap(), Bytes::new(budget));
        for begins in [false, true] {
            let what = if begins { "slices" } else { "frames" };
            run(&format!("{text}, {what}"), &frames, begins);
        }
    }
}

/// A frame, and where its last slice begins.
struct Frame(Vec<u8>, usize);

fn encode(size: Size, budget: Bytes) -> Vec<Frame> {
    let config = mimosa_x264::Config {
        threads: 8,
        ..mimosa_x264::Config::new(size, 60)
    };
    let mut encoder = X264::open(config).unwrap();
    let mut scene = Scene::new(size, 1);
    let mut picture = Picture::new(size);
    let interval = TimeDelta::from_micros(16_667);
    let mut next = |number: usize| {
        scene.draw(interval, &mut picture);
        let request = FrameRequest {
            frame: FrameId(number as u64),
            budget,
            interval,
            complexity: Complexity::C0,
            recovery: Recovery::None,
        };
        let data = encoder.encode(&picture, &request).unwrap().data;
        let last = data.windows(3).rposition(|window| window == [0, 0, 1]);
        Frame(data, last.unwrap())
    };
    (0..ENCODED).map(&mut next).collect()
}

/// Decodes at the frames' pace, and prints a row.
fn run(what: &str, frames: &[Frame], begins: bool) {
    let mut here = Local::open(1).unwrap();
    let mut there = Sandboxed::start(Program::own(CHILD), 1, Stop::default()).unwrap();
    let (mut own, mut sandboxed) = (Vec::new(), Vec::new());
    let (mut own_processor, mut client_processor) = (0.0, 0.0);
    let start = Instant::now();
    let mut child_before = 0.0;
    for number in 0..FRAMES + WARM_UP {
        let due = start + INTERVAL * u32::try_from(number).unwrap();
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if number == WARM_UP {
            child_before = child_processor(there.process_id());
        }
        let Frame(data, last) = &frames[number % frames.len()];
        let id = number as u64;
        for turn in 0..2 {
            let is_here = (turn == 0) == number.is_multiple_of(2);
            let before = processor();
            if begins {
                if is_here {
                    here.begin(id, 0, &data[..*last]);
                } else {
                    there.begin(id, 0, &data[..*last]);
                }
                std::thread::sleep(AHEAD);
            }
            let begin = Instant::now();
            if is_here {
                let picture = here.decode(id, Codec::H264, data).unwrap();
                let took = begin.elapsed();
                assert!(picture.is_some());
                if number >= WARM_UP {
                    own.push(took.as_secs_f64() * 1e3);
                    own_processor += processor() - before;
                }
            } else {
                let picture = there.decode(id, Codec::H264, data).unwrap();
                let took = begin.elapsed();
                assert!(matches!(picture, Outcome::Picture(_)));
                if number >= WARM_UP {
                    sandboxed.push(took.as_secs_f64() * 1e3);
                    client_processor += processor() - before;
                }
            }
        }
    }
    let child = child_processor(there.process_id()) - child_before;
    let memory = memory(there.process_id());
    let frames = FRAMES as f64;
    for all in [&mut own, &mut sandboxed] {
        all.sort_by(f64::total_cmp);
    }
    let at = |all: &[f64], percent: usize| all[(all.len() - 1) * percent / 100];
    let [a, b] = [at(&own, 50), at(&own, 95)];
    let [c, d] = [at(&sandboxed, 50), at(&sandboxed, 95)];
    println!(
        "| {what} | {a:.2} | {b:.2} | {c:.2} | {d:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {memory:.0} |",
        c - a,
        d - b,
        own_processor * 1e3 / frames,
        (client_processor * 1e3 + child * 1e3) / frames,
    );
}

/// Seconds of the processor that this process has had, all threads.
fn processor() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds of the processor that another process has had.
fn child_processor(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    // The second field is the name in brackets; 14 and 15 are the ticks in user mode and in the kernel.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    let fields: Vec<_> = fields.split(' ').collect();
    let ticks = |field: usize| fields[field - 3].parse::<f64>().unwrap();
    (ticks(14) + ticks(15)) / TICKS
}

/// Megabytes of memory that another process has for itself, without what it shares with its libraries' files.
fn memory(id: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
        kilobytes.parse::<f64>().unwrap() * 1024.0 / 1e6
    };
    field("RssAnon:") + field("RssShmem:")
}
