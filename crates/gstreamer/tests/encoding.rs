//! What the encoder promises with the software elements, on synthetic pictures. They need
//! Debian's gstreamer1.0-plugins-base, -bad and -ugly, and the `ffmpeg` command.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "../../x264/tests/clip/mod.rs"]
mod clip;

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_gstreamer::{Config, ELEMENTS, GStreamer, OpenError};
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{
    Codec, Complexity, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Plane, Recovery,
    Size,
};

const RATE: u32 = 60;
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);
const SOFTWARE: [&str; 3] = ["x264enc", "openh264enc", "x265enc"];

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

fn open(element: &str, size: Size) -> GStreamer {
    GStreamer::open(&Config {
        element: element.to_owned(),
        ..Config::new(size, RATE)
    })
    .unwrap()
}

fn budget(mbps: f64) -> Bytes {
    Rate::from_mbps(mbps).amount_in(INTERVAL)
}

fn request(frame: u64, budget: Bytes, recovery: Recovery) -> FrameRequest {
    FrameRequest {
        frame: FrameId(frame),
        budget,
        interval: INTERVAL,
        complexity: Complexity::C0,
        recovery,
    }
}

/// What `ffmpeg` makes of a stream; nothing may be wrong with it.
fn decode(codec: Codec, stream: Vec<u8>, size: Size) -> Vec<Vec<u8>> {
    let format = match codec {
        Codec::H264 => "h264",
        Codec::H265 => "hevc",
        Codec::Av1 => "obu",
    };
    let spawned = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-f", format, "-i", "pipe:0"])
        .args(["-fps_mode", "passthrough", "-f", "rawvideo"])
        .args(["-pix_fmt", "yuv420p", "pipe:1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("install ffmpeg (Debian: apt-get install ffmpeg)")
        }
        other => other.unwrap(),
    };
    let mut input = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || drop(input.write_all(&stream)));
    let mut output = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut output)
        .unwrap();
    feeder.join().unwrap();
    let end = child.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&end.stderr).into_owned();
    assert!(complaints.is_empty(), "{complaints}");
    let whole = size.luma_len() + 2 * size.chroma_len();
    output.chunks_exact(whole).map(<[u8]>::to_vec).collect()
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

/// The frames of a clip and its pictures.
fn encode(
    element: &str,
    frames: usize,
    budget: impl Fn(usize) -> Bytes,
    recovery: impl Fn(usize) -> Recovery,
) -> (Codec, Vec<Picture>, Vec<EncodedFrame>) {
    let size = size(320, 240);
    let mut clip = Clip::new(size, 6);
    let mut encoder = open(element, size);
    let pictures: Vec<_> = (0..frames).map(|time| clip.picture(time)).collect();
    let coded = pictures
        .iter()
        .enumerate()
        .map(|(number, picture)| {
            let request = request(number as u64 * 3, budget(number), recovery(number));
            encoder.encode(picture, &request).unwrap()
        })
        .collect();
    (encoder.capabilities().codec, pictures, coded)
}

/// Each frame completes a stream whose last picture is the one asked for, and keyframes
/// come when they are asked for and not else; what follows one needs nothing before it.
#[test]
fn one_picture_in_one_frame_out_and_keyframes_as_asked() {
    for element in SOFTWARE {
        let (codec, pictures, frames) = encode(
            element,
            60,
            |_| budget(1.5),
            |number| match number {
                20 => Recovery::Keyframe,
                40 => Recovery::Without(FrameId(114)),
                // Frame 49 was number 147: nothing is lost.
                50 => Recovery::Without(FrameId(148)),
                _ => Recovery::None,
            },
        );
        let keyframes: Vec<_> = (0..60).filter(|&n| frames[n].is_keyframe).collect();
        assert_eq!(keyframes, [0, 20, 40], "{element}");
        let stream = |from: usize, to: usize| {
            let data = frames[from..to].iter().map(|frame| frame.data.as_slice());
            data.collect::<Vec<_>>().concat()
        };
        for (from, to) in [(0, 1), (0, 2), (0, 10), (0, 60), (20, 21), (40, 60)] {
            let decoded = decode(codec, stream(from, to), size(320, 240));
            assert_eq!(decoded.len(), to - from, "{element} from {from} to {to}");
            let last = decoded.last().unwrap();
            let own = quality(&pictures[to - 1], last);
            let other = quality(&pictures[if to == 1 { 1 } else { to - 2 }], last);
            assert!(
                own > other + 2.0,
                "{own} dB to the picture, {other} dB to another, {element} at {to}"
            );
        }
    }
}

#[test]
fn the_bitrate_follows_the_budgets() {
    for element in SOFTWARE {
        let high = |number: usize| (number / 60).is_multiple_of(2);
        let budgets = |number| budget(if high(number) { 6.0 } else { 1.5 });
        let (_, _, frames) = encode(element, 240, budgets, |_| Recovery::None);
        let used = |from: usize| {
            let parts = (from..from + 30)
                .map(|number| frames[number].data.len() as f64 / budgets(number).get() as f64);
            parts.sum::<f64>() / 30.0
        };
        let (low, high) = (used(90), used(150));
        let above = (60..240)
            .filter(|&number| frames[number].data.len() as u64 > budgets(number).get())
            .count();
        println!("{element}: {low:.2} and {high:.2} used, {above} of 180 above");
        assert!(
            (0.4..1.3).contains(&low),
            "{low} of the low budgets, {element}"
        );
        assert!(
            (0.3..1.3).contains(&high),
            "{high} of the high budgets, {element}"
        );
    }
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_stream_goes_on() {
    let right = size(320, 240);
    let wrong = size(240, 320);
    let mut encoder = open("x264enc", right);
    let none = Recovery::None;
    let error = encoder.encode(&Picture::new(wrong), &request(0, budget(1.0), none));
    assert!(
        matches!(error, Err(EncodeError::WrongSize { got, expected }) if got == wrong && expected == right),
        "{error:?}"
    );
    let request = request(0, budget(1.0), none);
    encoder.encode(&Picture::new(right), &request).unwrap();
}

/// Another size is another encoder; each element takes sizes that are no multiples of 16.
#[test]
fn sizes_change() {
    for element in SOFTWARE {
        for (width, height) in [(642, 362), (322, 182)] {
            let size = size(width, height);
            let mut encoder = open(element, size);
            let codec = encoder.capabilities().codec;
            let mut stream = Vec::new();
            for number in 0..3 {
                let request = request(number, budget(5.0), Recovery::None);
                let frame = encoder.encode(&Picture::new(size), &request).unwrap();
                assert_eq!(frame.is_keyframe, number == 0, "{element} {size}");
                stream.extend(frame.data);
            }
            assert_eq!(decode(codec, stream, size).len(), 3, "{element} {size}");
        }
    }
}

#[test]
fn what_cannot_be_opened_is_named() {
    let config = |element: &str| Config {
        element: element.to_owned(),
        ..Config::new(size(320, 240), RATE)
    };
    let error = GStreamer::open(&config("fakesink"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`fakesink`") && error.contains("vah264enc, "),
        "{error}"
    );
    let zero = Config {
        frames_per_second: 0,
        ..config("x264enc")
    };
    assert_eq!(
        GStreamer::open(&zero).unwrap_err(),
        OpenError::FramesPerSecond(0)
    );
    // libx265 takes no such size: the element's own words come back.
    let wide = Config {
        size: size(8192, 16),
        ..config("x265enc")
    };
    let error = GStreamer::open(&wide).unwrap_err();
    assert!(
        matches!(&error, OpenError::Fails { name: "x265enc", reason } if reason.contains("x265")),
        "{error}"
    );
}

/// Whatever hardware there is: an element works, or says why not.
#[test]
fn hardware_is_found_or_named() {
    let found = mimosa_gstreamer::find(size(320, 240), RATE).unwrap();
    let hardware = ELEMENTS.iter().filter(|element| element.is_hardware);
    assert_eq!(found.len(), hardware.count());
    println!("{found:?}");
    let first = GStreamer::open(&Config::new(size(320, 240), RATE));
    let works = |codec| {
        let mut found = found.iter();
        found.any(|(element, found)| {
            element.codec == codec && *found == mimosa_gstreamer::Found::Works
        })
    };
    assert_eq!(first.is_ok(), works(Codec::H264), "{first:?}");
    if let Err(error) = first {
        assert!(error.to_string().contains("--encoder-element"), "{error}");
    }
}
