//! What the encoder promises, on synthetic pictures.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "../../x264/tests/clip/mod.rs"]
mod clip;

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_svt_av1::{Config, OpenError, SvtAv1};
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{
    Complexity, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};

const RATE: u32 = 60;
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

fn budget(mbps: f64) -> Bytes {
    Rate::from_mbps(mbps).amount_in(INTERVAL)
}

fn request(frame: u64, budget: Bytes) -> FrameRequest {
    FrameRequest {
        frame: FrameId(frame),
        budget,
        interval: INTERVAL,
        complexity: Complexity::C0,
        recovery: Recovery::None,
    }
}

/// A frame at a time of a clip, each with its own budget in Mbit/s.
fn encode_at(config: Config, noise: u32, rates: &[f64]) -> Vec<(Bytes, EncodedFrame)> {
    let mut clip = Clip::new(config.size, noise);
    let mut encoder = SvtAv1::open(config).unwrap();
    rates
        .iter()
        .enumerate()
        .map(|(time, &mbps)| {
            let budget = budget(mbps);
            let frame = encoder
                .encode(&clip.picture(time), &request(time as u64, budget))
                .unwrap();
            (budget, frame)
        })
        .collect()
}

fn use_of((budget, frame): &(Bytes, EncodedFrame)) -> f64 {
    frame.data.len() as f64 / budget.get() as f64
}

/// From a tenth of the highest to the highest, another for every frame.
fn random_rates(frames: usize, highest: f64) -> Vec<f64> {
    let mut state = 12_345_u32;
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            highest * (0.1 + 0.9 * f64::from(state >> 8) / f64::from(1 << 24))
        })
        .collect()
}

/// What part of the budgets is used, and what part of the frames exceeds them.
fn figures(frames: &[(Bytes, EncodedFrame)]) -> (f64, f64) {
    let count = frames.len() as f64;
    let used = frames.iter().map(use_of).sum::<f64>() / count;
    let above = frames.iter().filter(|frame| use_of(frame) > 1.0).count();
    (used, above as f64 / count)
}

#[test]
fn budgets_are_used_and_seldom_exceeded() {
    for (name, rates) in [
        ("steady", vec![3.0; 300]),
        ("random", random_rates(300, 10.0)),
    ] {
        let config = Config::new(size(640, 360), RATE);
        let frames = encode_at(config, 8, &rates);
        let (used, above) = figures(&frames[60..]);
        println!("{name}: {used:.3} used, {above:.3} above");
        assert!(above <= 0.05, "{above} of the frames above, {name}");
        assert!(used >= 0.6, "{used} of the budgets, {name}");
    }
}

#[test]
fn a_fall_is_followed_from_the_first_frame() {
    let rates: Vec<f64> = (0..180)
        .map(|time| if time / 30 % 2 == 0 { 8.0 } else { 1.5 })
        .collect();
    let frames = encode_at(Config::new(size(640, 360), RATE), 8, &rates);
    for fall in [30, 90, 150] {
        for frame in &frames[fall..fall + 4] {
            let used = use_of(frame);
            assert!(used <= 2.0, "{used} of the budget after the fall at {fall}");
        }
    }
    let (used, above) = figures(&frames[60..]);
    println!("{used:.3} used, {above:.3} above");
    assert!(above <= 0.1, "{above} of the frames above");
}

#[test]
fn what_a_still_picture_does_not_need_is_not_used() {
    let size = size(640, 360);
    let picture = Clip::new(size, 0).picture(0);
    let mut encoder = SvtAv1::open(Config::new(size, RATE)).unwrap();
    let mut last = 0;
    for number in 0..60 {
        let frame = encoder
            .encode(&picture, &request(number, budget(10.0)))
            .unwrap();
        last = frame.data.len();
    }
    assert!(last < 2_000, "{last} bytes for a still picture");
}

/// The types of the OBUs in a temporal unit, each of which states its size.
fn units(mut stream: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let [header, rest @ ..] = stream {
        assert_eq!(
            header & 0b1000_0111,
            0b010,
            "no extension, and the size is there"
        );
        types.push(header >> 3);
        let mut length = 0;
        let mut bytes = rest;
        for place in 0.. {
            let (&byte, left) = bytes.split_first().unwrap();
            bytes = left;
            length |= usize::from(byte & 127) << (7 * place);
            if byte < 128 {
                break;
            }
        }
        stream = &bytes[length..];
    }
    types
}

#[test]
fn only_the_first_frame_and_those_asked_for_are_keyframes() {
    const SEQUENCE: u8 = 1;
    const DELIMITER: u8 = 2;
    const FRAME: u8 = 6;
    let size = size(320, 180);
    let mut clip = Clip::new(size, 4);
    let mut encoder = SvtAv1::open(Config::new(size, RATE)).unwrap();
    for number in 0..150 {
        // Every other number is a frame that was skipped, and every 50th picture
        // has nothing to do with the one before.
        let recovery = match number {
            70 => Recovery::Keyframe,
            80 => Recovery::Without(FrameId(156)),
            // Frame 90 was number 180: nothing is lost.
            91 => Recovery::Without(FrameId(181)),
            _ => Recovery::None,
        };
        let request = FrameRequest {
            recovery,
            ..request(number * 2, budget(2.0))
        };
        let time = number as usize + number as usize / 50 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        let keyframe = [0, 70, 80].contains(&number);
        assert_eq!(frame.is_keyframe, keyframe, "at {number}");
        let expected: &[u8] = if keyframe {
            &[DELIMITER, SEQUENCE, FRAME]
        } else {
            &[DELIMITER, FRAME]
        };
        assert_eq!(units(&frame.data), expected, "at {number}");
        assert_eq!(frame.frame, FrameId(number * 2));
    }
}

#[test]
fn one_that_is_not_used_can_be_closed() {
    for threads in [1, 3] {
        let config = Config {
            threads,
            ..Config::new(size(320, 180), RATE)
        };
        drop(SvtAv1::open(config).unwrap());
    }
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_stream_goes_on() {
    let right = size(320, 240);
    let wrong = size(240, 320);
    let mut encoder = SvtAv1::open(Config::new(right, RATE)).unwrap();
    let error = encoder.encode(&Picture::new(wrong), &request(0, budget(1.0)));
    assert!(
        matches!(error, Err(EncodeError::WrongSize { got, expected }) if got == wrong && expected == right),
        "{error:?}"
    );
    encoder
        .encode(&Picture::new(right), &request(0, budget(1.0)))
        .unwrap();
}

#[test]
fn what_cannot_be_opened_is_named() {
    let config = || Config::new(size(320, 240), RATE);
    for (config, expected) in [
        (
            Config {
                threads: 4,
                ..config()
            },
            OpenError::Threads(4),
        ),
        (
            Config {
                size: size(320, 62),
                ..config()
            },
            OpenError::Size(size(320, 62)),
        ),
        (
            Config {
                frames_per_second: 0,
                ..config()
            },
            OpenError::FramesPerSecond(0),
        ),
        (
            Config {
                preset: 7,
                ..config()
            },
            OpenError::Preset(7),
        ),
        (
            Config {
                finest: 52,
                ..config()
            },
            OpenError::Finest(52),
        ),
    ] {
        assert_eq!(SvtAv1::open(config).unwrap_err(), expected);
    }
}

/// Sizes that are no multiples of a block, the smallest and a large one.
#[test]
fn every_size_encodes() {
    for (width, height) in [(64, 64), (66, 98), (642, 362), (1920, 1080)] {
        let size = size(width, height);
        for threads in [1, 3] {
            let config = Config {
                threads,
                ..Config::new(size, 240)
            };
            let mut encoder = SvtAv1::open(config).unwrap();
            for number in 0..3 {
                let request = request(number, budget(20.0));
                let frame = encoder.encode(&Picture::new(size), &request).unwrap();
                assert_eq!(frame.is_keyframe, number == 0, "{size} {threads}");
            }
        }
    }
}

#[test]
fn the_same_pictures_give_the_same_stream() {
    for threads in [1, 2] {
        let run = || {
            let config = Config {
                threads,
                ..Config::new(size(320, 180), RATE)
            };
            encode_at(config, 8, &random_rates(40, 3.0))
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn no_quantiser_is_below_the_finest() {
    let run = |finest| {
        let config = Config {
            finest,
            ..Config::new(size(320, 180), RATE)
        };
        encode_at(config, 8, &[200.0; 30])
    };
    let bytes = |frames: &[(Bytes, EncodedFrame)]| {
        frames
            .iter()
            .map(|(_, frame)| frame.data.len())
            .sum::<usize>()
    };
    let (fine, coarse) = (run(17), run(30));
    for (frames, finest) in [(&fine, 17.0), (&coarse, 30.0)] {
        let mut quantisers = frames.iter().map(|(_, frame)| frame.quantiser.unwrap());
        assert!(quantisers.clone().all(|quantiser| quantiser >= finest));
        assert!(
            quantisers.next_back().unwrap() < finest + 1.0,
            "nothing keeps it above"
        );
    }
    assert!(2 * bytes(&coarse) < bytes(&fine));
}
