//! What a decoder makes of streams without the pictures that nobody gets: dav1d's or
//! libaom's, by the `ffmpeg` command.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "../../x264/tests/clip/mod.rs"]
mod clip;

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_svt_av1::{Config, SvtAv1};
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{
    Complexity, EncodedFrame, Encoder, FrameRequest, Picture, Plane, Recovery, Size,
};

const INSTALL: &str = "install ffmpeg (Debian: apt-get install ffmpeg)";
const FRAMES: u64 = 100;
const BUDGET: Bytes = Bytes::new(6_000);

fn size() -> Size {
    Size::new(320, 240).unwrap()
}

fn pictures() -> Vec<Picture> {
    let mut clip = Clip::new(size(), 6);
    (0..FRAMES as usize)
        .map(|time| clip.picture(time))
        .collect()
}

fn request(number: u64, recovery: Recovery) -> FrameRequest {
    FrameRequest {
        frame: FrameId(number * 3),
        budget: BUDGET,
        interval: TimeDelta::from_micros(16_667),
        complexity: Complexity::C0,
        recovery,
    }
}

/// The frames of a stream in which `recovery` gives what each makes up for.
fn encode(config: Config, recovery: impl Fn(u64) -> Recovery) -> Vec<EncodedFrame> {
    let mut encoder = SvtAv1::open(config).unwrap();
    (0..FRAMES)
        .zip(pictures())
        .map(|(number, picture)| {
            let request = request(number, recovery(number));
            encoder.encode(&picture, &request).unwrap()
        })
        .collect()
}

/// What a command makes of `stream`: its output and its complaints.
fn run(command: &mut Command, stream: Vec<u8>) -> (Vec<u8>, String) {
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Err(error) if error.kind() == ErrorKind::NotFound => panic!("{INSTALL}"),
        other => other.unwrap(),
    };
    let mut input = child.stdin.take().unwrap();
    // It may have read enough before all is written.
    let feeder = std::thread::spawn(move || drop(input.write_all(&stream)));
    let mut output = Vec::new();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_to_end(&mut output).unwrap();
    feeder.join().unwrap();
    let end = child.wait_with_output().unwrap();
    (output, String::from_utf8_lossy(&end.stderr).into_owned())
}

/// Decodes `stream` into pictures, with the decoder's complaints.
fn try_to_decode(stream: Vec<u8>) -> (Vec<Vec<u8>>, String) {
    let mut command = Command::new("ffmpeg");
    command
        .args(["-loglevel", "error", "-f", "obu", "-i", "pipe:0"])
        .args(["-fps_mode", "passthrough", "-f", "rawvideo"])
        .args(["-pix_fmt", "yuv420p", "pipe:1"]);
    let (output, complaints) = run(&mut command, stream);
    let whole = size().luma_len() + 2 * size().chroma_len();
    let pictures = output.chunks_exact(whole).map(<[u8]>::to_vec).collect();
    (pictures, complaints)
}

/// Decodes a stream that nothing is wrong with.
fn decode(stream: Vec<u8>) -> Vec<Vec<u8>> {
    let (pictures, complaints) = try_to_decode(stream);
    assert!(complaints.is_empty(), "{complaints}");
    pictures
}

/// Peak signal-to-noise ratio of the brightness, in decibels.
fn quality(picture: &Picture, decoded: &[u8]) -> f64 {
    let luma = picture.plane(Plane::Y);
    let squares: f64 = luma
        .iter()
        .zip(decoded)
        .map(|(&source, &result)| f64::from(source.abs_diff(result)))
        .map(|difference| difference * difference)
        .sum();
    10.0 * libm::log10(255.0 * 255.0 * luma.len() as f64 / squares.max(1.0))
}

/// The quality of each frame of `frames` that `arrives`, by its number.
fn qualities(frames: &[EncodedFrame], arrives: impl Fn(u64) -> bool) -> Vec<(u64, f64)> {
    let numbers: Vec<u64> = (0..FRAMES).filter(|&number| arrives(number)).collect();
    let stream = numbers
        .iter()
        .flat_map(|&number| frames[number as usize].data.iter().copied())
        .collect();
    let decoded = decode(stream);
    assert_eq!(decoded.len(), numbers.len(), "pictures out of the decoder");
    let pictures = pictures();
    numbers
        .into_iter()
        .zip(decoded)
        .map(|(number, luma)| (number, quality(&pictures[number as usize], &luma)))
        .collect()
}

/// A decoder that missed something drifts away from the encoder.
#[test]
fn what_nobody_gets_is_not_missed_and_other_frames_are() {
    for threads in [1, 2] {
        let config = Config {
            threads,
            ..Config::new(size(), 60)
        };
        let frames = encode(config, |_| Recovery::None);
        let whole = qualities(&frames, |_| true);
        let mean = |from: usize| {
            whole[from..from + 20]
                .iter()
                .map(|(_, quality)| quality)
                .sum::<f64>()
                / 20.0
        };
        let (early, late) = (mean(10), mean(80));
        assert!(
            late > early - 1.0,
            "{late} dB after {early} dB with {threads} threads"
        );
        // Frame 32 is one that the next four refer to.
        let others = frames
            .iter()
            .enumerate()
            .filter(|(number, _)| *number != 32);
        let stream = others.flat_map(|(_, frame)| frame.data.iter().copied());
        let (_, complaints) = try_to_decode(stream.collect());
        assert!(complaints.contains("Invalid data"), "{complaints}");
    }
}

/// Each picture comes back before the next one goes in: the frame that is answered
/// with completes a stream whose last picture is the one that was asked for.
#[test]
fn one_picture_in_one_frame_out() {
    for preset in [8, 10, 12, 13] {
        let config = Config {
            preset,
            ..Config::new(size(), 60)
        };
        let pictures = pictures();
        let mut encoder = SvtAv1::open(config).unwrap();
        let mut stream = Vec::new();
        for (number, picture) in pictures.iter().take(18).enumerate() {
            let request = request(number as u64, Recovery::None);
            let frame = encoder.encode(picture, &request).unwrap();
            stream.extend(frame.data);
            let decoded = decode(stream.clone());
            assert_eq!(decoded.len(), number + 1, "preset {preset}");
            let (own, next) = (
                quality(picture, &decoded[number]),
                quality(&pictures[number + 1], &decoded[number]),
            );
            assert!(
                own > next + 3.0,
                "{own} dB to picture {number}, {next} dB to the next, preset {preset}"
            );
        }
    }
}

#[test]
fn after_a_loss_a_keyframe_brings_the_picture_back() {
    let whole = encode(Config::new(size(), 60), |_| Recovery::None);
    let mended = encode(Config::new(size(), 60), |number| match number {
        53 => Recovery::Without(FrameId(150)),
        _ => Recovery::None,
    });
    let keyframes: Vec<u64> = (0..FRAMES)
        .filter(|&number| mended[number as usize].is_keyframe)
        .collect();
    assert_eq!(keyframes, [0, 53]);
    let undisturbed = qualities(&whole, |_| true);
    for (number, after) in qualities(&mended, |number| !(50..53).contains(&number)) {
        let before = undisturbed[number as usize].1;
        // The keyframe has the budget of any other frame, and others build on it.
        assert!(
            (50..70).contains(&number) || after > before - 1.0,
            "{after} dB for {before} dB at frame {number}"
        );
    }
}

#[test]
fn the_stream_states_what_it_is() {
    let frames = encode(Config::new(size(), 60), |_| Recovery::None);
    let mut command = Command::new("ffprobe");
    command.args(["-loglevel", "error", "-f", "obu", "-show_streams", "pipe:0"]);
    let (told, complaints) = run(&mut command, frames[0].data.clone());
    assert!(complaints.is_empty(), "{complaints}");
    let told = String::from_utf8(told).unwrap();
    for line in [
        "codec_name=av1",
        "profile=Main",
        "pix_fmt=yuv420p",
        "color_range=tv",
        "color_space=bt709",
        "color_transfer=bt709",
        "color_primaries=bt709",
    ] {
        assert!(
            told.lines().any(|told| told == line),
            "no {line} in:\n{told}"
        );
    }
}
