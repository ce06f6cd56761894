//! What a decoder makes of streams with frames lost and attempts rejected:
//! libavcodec's, by the `ffmpeg` command.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

mod clip;

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{
    Complexity, EncodedFrame, Encoder, FrameRequest, Picture, Plane, Recovery, Size,
};
use mimosa_x264::{Config, Margin, X264};

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

/// The frames of a stream in which `recovery` gives what each makes up for.
fn encode(config: Config, recovery: impl Fn(u64) -> Recovery) -> Vec<EncodedFrame> {
    let mut encoder = X264::open(config).unwrap();
    (0..FRAMES)
        .zip(pictures())
        .map(|(number, picture)| {
            let request = FrameRequest {
                frame: FrameId(number * 3),
                budget: BUDGET,
                interval: TimeDelta::from_micros(16_667),
                complexity: Complexity::C0,
                recovery: recovery(number),
            };
            encoder.encode(&picture, &request).unwrap()
        })
        .collect()
}

/// Decodes `stream` into pictures of so many bytes.
fn decode(stream: Vec<u8>, whole: usize) -> Vec<Vec<u8>> {
    let spawned = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", "h264", "-i", "pipe:0"])
        .args([
            "-fps_mode",
            "passthrough",
            "-f",
            "rawvideo",
            "-pix_fmt",
            "yuv420p",
            "pipe:1",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut decoder = match spawned {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("{INSTALL}")
        }
        other => other.unwrap(),
    };
    let mut input = decoder.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || input.write_all(&stream));
    let mut output = Vec::new();
    decoder
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut output)
        .unwrap();
    feeder.join().unwrap().unwrap();
    let end = decoder.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&end.stderr).into_owned();
    assert!(complaints.is_empty(), "{complaints}");
    output.chunks_exact(whole).map(<[u8]>::to_vec).collect()
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
    let decoded = decode(stream, size().luma_len() + 2 * size().chroma_len());
    assert_eq!(decoded.len(), numbers.len(), "pictures out of the decoder");
    let pictures = pictures();
    numbers
        .into_iter()
        .zip(decoded)
        .map(|(number, luma)| (number, quality(&pictures[number as usize], &luma)))
        .collect()
}

fn keyframes(frames: &[EncodedFrame]) -> Vec<u64> {
    (0..FRAMES)
        .filter(|&number| frames[number as usize].is_keyframe)
        .collect()
}

#[test]
fn after_a_loss_the_stream_goes_on_without_a_keyframe() {
    for threads in [1, 2] {
        // Of several threads each looks at how far the others are, so that sizes differ
        // from run to run, and an attempt rejected among the lost frames takes the last
        // place of the four. Asking for half the budget has none rejected.
        let config = || Config {
            threads,
            margin: Margin {
                rejected: 0.02,
                least: 0.5,
                most: 0.5,
            },
            ..Config::new(size(), 60)
        };
        let whole = encode(config(), |_| Recovery::None);
        let mended = encode(config(), |number| match number {
            53 => Recovery::Without(FrameId(150)),
            _ => Recovery::None,
        });
        for frame in &mended {
            assert_eq!(
                frame.attempts, 1,
                "{:?} with {threads} threads",
                frame.frame
            );
        }
        assert_eq!(keyframes(&mended), [0]);
        let undisturbed = qualities(&whole, |_| true);
        let disturbed = qualities(&mended, |number| !(50..53).contains(&number));
        for (number, after) in disturbed {
            let before = undisturbed[number as usize].1;
            assert!(
                (after - before).abs() < 1.0,
                "{after} dB for {before} dB at frame {number} with {threads} threads"
            );
        }
    }
}

#[test]
fn a_loss_beyond_the_references_makes_a_keyframe() {
    let frames = encode(Config::new(size(), 60), |number| match number {
        // All four that are kept are lost: 50 to 53.
        54 => Recovery::Without(FrameId(150)),
        // The keyframe just made is lost itself.
        56 => Recovery::Without(FrameId(162)),
        // Two are lost, two remain.
        60 => Recovery::Without(FrameId(174)),
        // Nothing is lost: frame 69 was number 207.
        70 => Recovery::Without(FrameId(208)),
        _ => Recovery::None,
    });
    assert_eq!(keyframes(&frames), [0, 54, 56]);
    qualities(&frames, |number| {
        !(50..56).contains(&number) && !(58..60).contains(&number)
    });
}

#[test]
fn rejected_attempts_leave_no_trace_in_the_picture() {
    // Asking for far too much has nearly every frame rejected.
    let config = Config {
        margin: Margin {
            rejected: 0.02,
            least: 1.25,
            most: 1.25,
        },
        ..Config::new(size(), 60)
    };
    let plain = encode(Config::new(size(), 60), |_| Recovery::None);
    let rejecting = encode(config, |number| match number {
        40 => Recovery::Keyframe,
        _ => Recovery::None,
    });
    let attempts: u32 = rejecting.iter().map(|frame| frame.attempts).sum();
    assert!(attempts > 125, "{attempts} attempts at {FRAMES} frames");
    assert_eq!(keyframes(&rejecting), [0, 40]);
    for frame in &rejecting {
        let size = Bytes::new(frame.data.len() as u64);
        assert!(size <= BUDGET, "{size} at {:?}", frame.frame);
    }
    let plain = qualities(&plain, |_| true);
    for (number, quality) in qualities(&rejecting, |_| true) {
        let other = plain[number as usize].1;
        assert!(
            quality > other - 1.5,
            "{quality} dB for {other} dB at frame {number}"
        );
    }
}

/// What `ffprobe` tells of a stream, as `name=value`.
fn probe(stream: &[u8]) -> String {
    let spawned = Command::new("ffprobe")
        .args([
            "-loglevel",
            "error",
            "-f",
            "h264",
            "-show_streams",
            "pipe:0",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut probe = match spawned {
        Err(error) if error.kind() == ErrorKind::NotFound => panic!("{INSTALL}"),
        other => other.unwrap(),
    };
    // It may have read enough before all is written.
    let _ = probe.stdin.take().unwrap().write_all(stream);
    String::from_utf8(probe.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn the_stream_states_what_it_is() {
    let frames = encode(Config::new(size(), 60), |_| Recovery::None);
    let told = probe(&frames[0].data);
    for line in [
        "profile=High",
        "level=42",
        "has_b_frames=0",
        "r_frame_rate=60/1",
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
/// Frame numbers have twelve bits. Frame 4096 is number zero again.
#[test]
fn the_stream_goes_on_when_the_frame_numbers_begin_anew() {
    let tiny = Size::new(64, 64).unwrap();
    let mut clip = Clip::new(tiny, 0);
    let pictures: Vec<Picture> = (0..8).map(|time| clip.picture(time)).collect();
    for (recovery, expected) in [(None, vec![0]), (Some(4095), vec![0, 4098])] {
        let mut encoder = X264::open(Config::new(tiny, 60)).unwrap();
        let mut stream = Vec::new();
        let mut keyframes = Vec::new();
        let mut sent = 0;
        for number in 0..4110 {
            let request = FrameRequest {
                frame: FrameId(number),
                budget: Bytes::new(1_000),
                interval: TimeDelta::from_micros(16_667),
                complexity: Complexity::C0,
                recovery: match recovery {
                    Some(lost) if number == 4098 => Recovery::Without(FrameId(lost)),
                    _ => Recovery::None,
                },
            };
            let picture = &pictures[number as usize % pictures.len()];
            let frame = encoder.encode(picture, &request).unwrap();
            if frame.is_keyframe {
                keyframes.push(number);
            }
            if recovery.is_none_or(|lost| !(lost..4098).contains(&number)) {
                stream.extend(frame.data);
                sent += 1;
            }
        }
        assert_eq!(keyframes, expected);
        let whole = tiny.luma_len() + 2 * tiny.chroma_len();
        assert_eq!(decode(stream, whole).len(), sent);
    }
}
