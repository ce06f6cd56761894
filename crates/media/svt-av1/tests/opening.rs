//! Settings with which the encoder cannot be opened.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_svt_av1::{Config, OpenError, SvtAv1};
use mimosa_video::Size;

const RATE: u32 = 60;

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

/// The error when `change` is made to settings that work.
fn refused(change: impl FnOnce(&mut Config)) -> OpenError {
    let mut config = Config::new(size(320, 240), RATE);
    change(&mut config);
    SvtAv1::open(config).unwrap_err()
}

#[test]
fn what_cannot_be_opened_is_named() {
    assert_eq!(refused(|it| it.threads = 4), OpenError::Threads(4));
    assert_eq!(
        refused(|it| it.size = size(320, 62)),
        OpenError::Size(size(320, 62))
    );
    assert_eq!(
        refused(|it| it.frames_per_second = 0),
        OpenError::FramesPerSecond(0)
    );
    assert_eq!(refused(|it| it.preset = 7), OpenError::Preset(7));
    assert_eq!(refused(|it| it.finest = 52), OpenError::Finest(52));
}

/// A host opens an encoder for each person and closes it when they leave, whatever others do.
#[test]
fn encoders_are_opened_and_closed_beside_each_other() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..12 {
                    drop(SvtAv1::open(Config::new(size(64, 64), RATE)).unwrap());
                }
            });
        }
    });
}
