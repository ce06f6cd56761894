//! What the encoder promises, on synthetic pictures.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

#[path = "../../x264/tests/clip/mod.rs"]
mod clip;

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_openh264::{Config, OpenError, OpenH264};
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
    let mut encoder = OpenH264::open(config).unwrap();
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

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// 3 to 30 Mbit/s, another for every frame.
fn random_rates(frames: usize) -> Vec<f64> {
    let mut state = 12_345_u32;
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            3.0 + 27.0 * f64::from(state >> 8) / f64::from(1 << 24)
        })
        .collect()
}

#[test]
fn random_budgets_are_obeyed_and_used() {
    for threads in [1, 2] {
        let config = Config {
            threads,
            ..Config::new(size(1280, 720), RATE)
        };
        let frames = encode_at(config, 14, &random_rates(300));
        let most = frames.iter().map(use_of).fold(0.0, f64::max);
        let late = &frames[60..];
        let used = mean(late.iter().map(use_of));
        let keyframes = late.iter().filter(|(_, frame)| frame.is_keyframe).count();
        println!("{threads} threads: most {most:.3}, mean {used:.3}, {keyframes} keyframes");
        assert!(most <= 1.0, "{most} of a budget with {threads} threads");
        assert!(used >= 0.65, "{used} of the budgets with {threads} threads");
        assert_eq!(keyframes, 0, "with {threads} threads");
    }
}

#[test]
fn a_change_is_followed_from_the_first_frame() {
    let rates: Vec<f64> = (0..180)
        .map(|time| if time / 30 % 2 == 0 { 30.0 } else { 5.0 })
        .collect();
    let frames = encode_at(Config::new(size(1280, 720), RATE), 14, &rates);
    for (time, frame) in frames.iter().enumerate() {
        let used = use_of(frame);
        assert!(used <= 1.0, "{used} of the budget at frame {time}");
        assert!(time % 60 != 0 || used > 0.4, "{used} at the rise at {time}");
    }
}

#[test]
fn what_a_still_picture_does_not_need_is_not_used() {
    let size = size(640, 360);
    let picture = Clip::new(size, 0).picture(0);
    let mut encoder = OpenH264::open(Config::new(size, RATE)).unwrap();
    let mut last = 0;
    for number in 0..60 {
        let frame = encoder
            .encode(&picture, &request(number, budget(10.0)))
            .unwrap();
        last = frame.data.len();
    }
    assert!(last < 2_000, "{last} bytes for a still picture");
}

/// The types of the NAL units in a byte stream.
fn units(stream: &[u8]) -> Vec<u8> {
    stream
        .windows(4)
        .filter(|window| window.starts_with(&[0, 0, 1]))
        .map(|window| window[3] & 31)
        .collect()
}

#[test]
fn only_the_first_frame_and_those_asked_for_are_keyframes() {
    const SPS: u8 = 7;
    const PPS: u8 = 8;
    const IDR: u8 = 5;
    const SLICE: u8 = 1;
    let size = size(640, 360);
    let mut clip = Clip::new(size, 4);
    let mut encoder = OpenH264::open(Config::new(size, RATE)).unwrap();
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
            ..request(number * 2, budget(5.0))
        };
        let time = number as usize + number as usize / 50 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        let keyframe = [0, 70, 80].contains(&number);
        assert_eq!(frame.is_keyframe, keyframe, "at {number}");
        let expected: &[u8] = if keyframe { &[SPS, PPS, IDR] } else { &[SLICE] };
        assert_eq!(units(&frame.data), expected, "at {number}");
        assert!(
            Bytes::new(frame.data.len() as u64) <= budget(5.0),
            "at {number}"
        );
        assert_eq!(frame.frame, FrameId(number * 2));
    }
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_stream_goes_on() {
    let right = size(320, 240);
    let wrong = size(240, 320);
    let mut encoder = OpenH264::open(Config::new(right, RATE)).unwrap();
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
                threads: 0,
                ..config()
            },
            OpenError::Threads(0),
        ),
        (
            Config {
                size: size(4096, 2160),
                ..config()
            },
            OpenError::Size(size(4096, 2160)),
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
                finest: 52,
                ..config()
            },
            OpenError::Finest(52),
        ),
    ] {
        assert_eq!(OpenH264::open(config).unwrap_err(), expected);
    }
}

/// Sizes that are no multiples of a macroblock, the smallest and the largest.
#[test]
fn every_size_encodes() {
    for (width, height) in [(16, 16), (18, 34), (642, 362), (3840, 2160), (2160, 3840)] {
        let size = size(width, height);
        for threads in [1, 4] {
            let config = Config {
                threads,
                ..Config::new(size, RATE)
            };
            let mut encoder = OpenH264::open(config).unwrap();
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
                ..Config::new(size(640, 360), RATE)
            };
            encode_at(config, 8, &random_rates(60))
        };
        assert_eq!(run(), run());
    }
}

#[test]
fn small_budgets_are_obeyed() {
    let size = size(1280, 720);
    let mut clip = Clip::new(size, 14);
    let mut encoder = OpenH264::open(Config::new(size, RATE)).unwrap();
    for number in 0..60 {
        // Everything is new every ten frames, and a keyframe every twenty.
        let recovery = match number % 20 {
            5 => Recovery::Keyframe,
            _ => Recovery::None,
        };
        let budget = Bytes::new(4_000 + number * 397 % 4_000);
        let request = FrameRequest {
            recovery,
            ..request(number, budget)
        };
        let time = number as usize + number as usize / 10 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        let size = Bytes::new(frame.data.len() as u64);
        assert!(size <= budget, "{size} for {budget} at frame {number}");
    }
}

#[test]
fn no_quantiser_is_below_the_finest() {
    let run = |finest| {
        let config = Config {
            finest,
            ..Config::new(size(640, 360), RATE)
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
