//! Limits of libx264 that other encoders do not have.

use mimosa_conformance::{Clip, plain_request};
use mimosa_units::Bytes;
use mimosa_video::{Encoder, Size};
use mimosa_x264::{Aim, Config, OpenError, X264};

const RATE: u32 = 60;

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

/// The error when `change` is made to settings that work.
fn refused(change: impl FnOnce(&mut Config)) -> OpenError {
    let mut config = Config::new(size(320, 240), RATE);
    change(&mut config);
    X264::open(config).unwrap_err()
}

#[test]
fn what_cannot_be_opened_is_named() {
    assert_eq!(refused(|it| it.threads = 0), OpenError::Threads(0));
    assert_eq!(refused(|it| it.references = 17), OpenError::References(17));
    assert_eq!(
        refused(|it| it.frames_per_second = 0),
        OpenError::FramesPerSecond(0)
    );
    assert_eq!(refused(|it| it.finest = 0), OpenError::Finest(0));
}

/// Budgets below the smallest size that the documentation of [`X264`] states.
#[test]
fn below_the_floor_a_frame_is_as_small_as_can_be() {
    let size = size(1280, 720);
    for noise in [0, 14] {
        let mut clip = Clip::new(size, noise);
        let mut encoder = X264::open(Config::new(size, RATE)).unwrap();
        let frames = [0, 0, 1, 500].map(|time| {
            let request = plain_request(time, Bytes::new(30));
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

/// Budgets of which neither the frame nor the unit that takes the rest fits into the room that libx264 has at first.
#[test]
fn budgets_beyond_all_measure_are_obeyed() {
    let size = size(320, 240);
    let mut clip = Clip::new(size, 14);
    let config = Config {
        aim: Aim::Buffer,
        ..Config::new(size, RATE)
    };
    let mut encoder = X264::open(config).unwrap();
    let budgets = [6_000_000, 6_000_000, 3_000_000, 8_000_000, 20_000, 20_000];
    for (time, budget) in (0..).zip(budgets) {
        let budget = Bytes::new(budget);
        let frame = encoder
            .encode(&clip.picture(time), &plain_request(time, budget))
            .unwrap();
        let taken = Bytes::new(frame.data.len() as u64);
        assert!(Bytes::new(500) < taken && taken <= budget, "{taken:?}");
    }
}
