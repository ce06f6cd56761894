//! SVT-AV1 beside libx264 and OpenH264: `cargo bench -p mimosa-svt-av1`.
//!
//! 1280x720 at 60 frames per second, the same budgets for all. The encoders take
//! turns, frame by frame, so that whatever else the machine does falls on all
//! alike; the time is that of the processor. The table is the one of
//! docs/encoder.md. It needs `ffmpeg`, which decodes.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]

#[path = "../../x264/tests/clip/mod.rs"]
mod clip;

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_openh264::OpenH264;
use mimosa_svt_av1::SvtAv1;
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{Codec, Complexity, Encoder, FrameRequest, Picture, Plane, Recovery, Size};
use mimosa_x264::X264;
use rustix::time::{ClockId, clock_gettime};

const FRAMES: usize = 300;
/// Frames before the figures count.
const WARM_UP: usize = 60;
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

/// One encoder, and what came of it.
struct Entry {
    name: &'static str,
    encoder: Box<dyn Encoder>,
    milliseconds: Vec<f64>,
    used: f64,
    above: usize,
    /// The most that a frame had, in budgets.
    most: f64,
    keyframes: usize,
    attempts: u32,
    decoder: Decoder,
}

impl Entry {
    fn new(name: &'static str, encoder: Box<dyn Encoder>, size: Size) -> Self {
        let format = match encoder.capabilities().codec {
            Codec::H264 => "h264",
            Codec::H265 => "hevc",
            Codec::Av1 => "obu",
        };
        Self {
            name,
            encoder,
            milliseconds: Vec::new(),
            used: 0.0,
            above: 0,
            most: 0.0,
            keyframes: 0,
            attempts: 0,
            decoder: Decoder::start(size, format),
        }
    }

    fn encode(&mut self, picture: &Picture, number: usize, budget: Bytes) {
        let request = FrameRequest {
            frame: FrameId(number as u64),
            budget,
            interval: INTERVAL,
            complexity: Complexity::C0,
            recovery: Recovery::None,
        };
        let begun = processor();
        let frame = self.encoder.encode(picture, &request).unwrap();
        let took = processor() - begun;
        self.decoder.give(&frame.data);
        if number < WARM_UP {
            return;
        }
        let part = frame.data.len() as f64 / budget.get() as f64;
        self.milliseconds.push(took);
        self.used += part;
        self.above += usize::from(part > 1.0);
        self.most = self.most.max(part);
        self.keyframes += usize::from(frame.is_keyframe);
        self.attempts += frame.attempts;
    }
}

/// libavcodec, by the `ffmpeg` command.
struct Decoder {
    child: Child,
    input: Option<ChildStdin>,
    output: JoinHandle<Vec<Vec<u8>>>,
}

impl Decoder {
    fn start(size: Size, format: &str) -> Self {
        let mut child = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-f", format, "-i", "pipe:0"])
            .args(["-fps_mode", "passthrough", "-f", "rawvideo"])
            .args(["-pix_fmt", "yuv420p", "pipe:1"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        Self {
            input: child.stdin.take(),
            child,
            output: std::thread::spawn(move || pictures(output, size)),
        }
    }

    fn give(&mut self, data: &[u8]) {
        self.input.as_mut().unwrap().write_all(data).unwrap();
    }

    fn finish(mut self) -> Vec<Vec<u8>> {
        drop(self.input.take());
        let pictures = self.output.join().unwrap();
        assert!(self.child.wait().unwrap().success());
        pictures
    }
}

/// The brightness of each picture.
fn pictures(mut output: ChildStdout, size: Size) -> Vec<Vec<u8>> {
    let mut pictures = Vec::new();
    loop {
        let mut picture = vec![0; size.luma_len() + 2 * size.chroma_len()];
        if output.read_exact(&mut picture).is_err() {
            return pictures;
        }
        picture.truncate(size.luma_len());
        picture.shrink_to_fit();
        pictures.push(picture);
    }
}

/// The processor's time so far, in milliseconds.
fn processor() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Peak signal-to-noise ratio of the brightness, in decibels.
fn quality(picture: &Picture, decoded: &[u8]) -> f64 {
    let luma = picture.plane(Plane::Y);
    let squares: u64 = luma
        .iter()
        .zip(decoded)
        .map(|(&source, &result)| u64::from(source.abs_diff(result)).pow(2))
        .sum();
    10.0 * libm::log10(255.0 * 255.0 * luma.len() as f64 / squares.max(1) as f64)
}

/// What is to be sent, in Mbit/s for each frame.
fn scenarios() -> [(&'static str, Vec<f64>); 3] {
    let mut state = 12_345_u32;
    let random = (0..FRAMES).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        3.0 + 27.0 * f64::from(state >> 8) / f64::from(1 << 24)
    });
    let random = random.collect();
    let step = |time: usize| {
        if (time / 30).is_multiple_of(2) {
            30.0
        } else {
            5.0
        }
    };
    [
        ("10 Mbit/s", vec![10.0; FRAMES]),
        ("random 3 to 30", random),
        ("steps 30 and 5", (0..FRAMES).map(step).collect()),
    ]
}

fn entries(size: Size) -> Vec<Entry> {
    let x264 = X264::open(mimosa_x264::Config::new(size, 60)).unwrap();
    let openh264 = OpenH264::open(mimosa_openh264::Config::new(size, 60)).unwrap();
    let svt_av1 = SvtAv1::open(mimosa_svt_av1::Config::new(size, 60)).unwrap();
    vec![
        Entry::new("libx264 c0", Box::new(x264), size),
        Entry::new("OpenH264", Box::new(openh264), size),
        Entry::new("SVT-AV1", Box::new(svt_av1), size),
    ]
}

fn main() {
    let size = Size::new(1280, 720).unwrap();
    println!(
        "| budgets | encoder | use | above | most | keyframes | attempts | cpu ms, p50 | p99 | PSNR, dB |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (scenario, rates) in scenarios() {
        let mut clip = Clip::new(size, 8);
        let mut entries = entries(size);
        let mut sources = Vec::new();
        for (number, &mbps) in rates.iter().enumerate() {
            let budget = Rate::from_mbps(mbps).amount_in(INTERVAL);
            let picture = clip.picture(number);
            for entry in &mut entries {
                entry.encode(&picture, number, budget);
            }
            sources.push(picture);
        }
        for entry in entries {
            report(scenario, entry, &sources);
        }
    }
}

fn report(scenario: &str, entry: Entry, sources: &[Picture]) {
    let Entry {
        mut milliseconds, ..
    } = entry;
    milliseconds.sort_by(f64::total_cmp);
    let percentile = |percent| milliseconds[(milliseconds.len() - 1) * percent / 100];
    let decoded = entry.decoder.finish();
    assert_eq!(decoded.len(), sources.len(), "{}", entry.name);
    let late = sources.iter().zip(&decoded).skip(WARM_UP);
    let frames = (FRAMES - WARM_UP) as f64;
    let quality = late
        .map(|(source, decoded)| quality(source, decoded))
        .sum::<f64>()
        / frames;
    println!(
        "| {scenario} | {} | {:.3} | {} | {:.2} | {} | {:.2} | {:.1} | {:.1} | {quality:.2} |",
        entry.name,
        entry.used / frames,
        entry.above,
        entry.most,
        entry.keyframes,
        f64::from(entry.attempts) / frames,
        percentile(50),
        percentile(99),
    );
}
