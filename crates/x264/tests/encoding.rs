//! What the encoder promises, on synthetic pictures.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

mod clip;

use clip::Clip;
use mimosa_control::FrameId;
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{
    Complexity, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};
use mimosa_x264::{Config, OpenError, X264};

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
    let mut encoder = X264::open(config).unwrap();
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
    // Slices plan for themselves, so that two use less.
    for (threads, least) in [(1, 0.85), (2, 0.78)] {
        let config = Config {
            threads,
            ..Config::new(size(1280, 720), RATE)
        };
        let frames = encode_at(config, 14, &random_rates(300));
        let most = frames.iter().map(use_of).fold(0.0, f64::max);
        let late = &frames[60..];
        let used = mean(late.iter().map(use_of));
        let again = late.iter().filter(|(_, frame)| frame.attempts > 1).count();
        println!("{threads} threads: most {most:.3}, mean {used:.3}, {again} of 240 again");
        assert!(most <= 1.0, "{most} of a budget with {threads} threads");
        assert!(
            used >= least,
            "{used} of the budgets with {threads} threads"
        );
        assert!(again <= 24, "{again} of 240 again with {threads} threads");
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
        assert!(time % 60 != 0 || used > 0.6, "{used} at the rise at {time}");
    }
}

#[test]
fn what_a_still_picture_does_not_need_is_not_used() {
    let size = size(640, 360);
    let picture = Clip::new(size, 0).picture(0);
    let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
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
    let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
    for number in 0..150 {
        // Every other number is a frame that was skipped, and every 20th picture
        // has nothing to do with the one before.
        let asked = number == 70;
        let request = FrameRequest {
            recovery: if asked {
                Recovery::Keyframe
            } else {
                Recovery::None
            },
            ..request(number * 2, budget(5.0))
        };
        let time = number as usize + number as usize / 20 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        let keyframe = number == 0 || asked;
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
fn complexity_changes_from_frame_to_frame() {
    let size = size(640, 360);
    let levels = [
        Complexity::C0,
        Complexity::C0Plus,
        Complexity::C1,
        Complexity::C2,
    ];
    // The mean quantiser of a level is lower the more work goes into the same
    // bytes; measured with the level held, then while all alternate.
    let quantiser = |level: &dyn Fn(u64) -> Complexity| {
        let mut clip = Clip::new(size, 0);
        let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
        let mut sum = 0.0;
        for number in 0..80 {
            let request = FrameRequest {
                complexity: level(number),
                ..request(number, budget(2.0))
            };
            let frame = encoder
                .encode(&clip.picture(number as usize), &request)
                .unwrap();
            assert_eq!(frame.is_keyframe, number == 0, "at {number}");
            sum += frame.quantiser.unwrap();
        }
        sum / 80.0
    };
    let held = levels.map(|level| quantiser(&|_| level));
    let mixed = quantiser(&|number| levels[number as usize % 4]);
    println!("mean quantiser {held:?}, mixed {mixed}");
    assert!(held[2] < held[0] - 0.5, "{held:?}");
    assert!(
        mixed < held[0] && mixed > held[2] - 0.5,
        "{mixed} of {held:?}"
    );
}

#[test]
fn a_picture_of_another_size_is_refused_and_the_stream_goes_on() {
    let right = size(320, 240);
    let wrong = size(240, 320);
    let mut encoder = X264::open(Config::new(right, RATE)).unwrap();
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
                references: 17,
                ..config()
            },
            OpenError::References(17),
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
                finest: 0,
                ..config()
            },
            OpenError::Finest(0),
        ),
    ] {
        assert_eq!(X264::open(config).unwrap_err(), expected);
    }
}

#[test]
fn the_same_pictures_give_the_same_stream() {
    let run = || encode_at(Config::new(size(640, 360), RATE), 8, &random_rates(60));
    assert_eq!(run(), run());
}

/// The floor that the documentation of [`X264`] states.
#[test]
fn below_the_floor_a_frame_is_as_small_as_can_be() {
    let size = size(1280, 720);
    for noise in [0, 14] {
        let mut clip = Clip::new(size, noise);
        let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
        let frames = [0, 0, 1, 500].map(|time| {
            let request = request(time as u64, Bytes::new(30));
            encoder.encode(&clip.picture(time), &request).unwrap()
        });
        let [keyframe, still, moved, new] = frames.map(|frame| frame.data.len());
        let sizes = format!("keyframe {keyframe}, still {still}, moved {moved}, new {new} bytes");
        println!("{sizes} with noise of {noise}");
        assert!(
            keyframe < 500 && still < 50 && moved < 60 && new < 150,
            "{sizes}"
        );
    }
}

#[test]
fn small_budgets_are_obeyed() {
    let size = size(1280, 720);
    let mut clip = Clip::new(size, 14);
    let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
    let mut attempts = 0;
    for number in 0..60 {
        // Everything is new every ten frames, and a keyframe every twenty.
        let recovery = match number % 20 {
            5 => Recovery::Keyframe,
            _ => Recovery::None,
        };
        let budget = Bytes::new(600 + number * 397 % 1400);
        let request = FrameRequest {
            recovery,
            ..request(number, budget)
        };
        let time = number as usize + number as usize / 10 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        attempts += frame.attempts;
        let size = Bytes::new(frame.data.len() as u64);
        assert!(size <= budget, "{size} for {budget} at frame {number}");
    }
    println!("{attempts} attempts at 60 frames");
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
