//! Checks of recovery after frames are lost.

use mimosa_quality::psnr;
use mimosa_video::Recovery;

use crate::stream::{Stream, stream_size};
use crate::subject::{Setup, Subject};

/// The difference in decibels up to which two qualities of a picture are the same. With one thread, what
/// libx264 states is exact to a thousandth; with two, it was seen to miss up to 0.09 where slices meet.
/// A frame that refers to a missing one is 3 worse and more.
const SAME: f64 = 0.2;

/// Checks that the picture comes back after frames 50 to 52 are lost and frame 53 makes
/// up for them. An encoder that [`invalidates
/// references`](mimosa_video::Capabilities::invalidates_references) does it without a
/// keyframe, and every picture that arrives is as good as in an undisturbed stream.
/// Another encoder makes a keyframe, and has the next 17 frames to become as good again.
pub fn a_loss_is_recovered_from(subject: &Subject) {
    let setup = Setup::new(stream_size());
    let mut encoder = subject.opened(&setup);
    let whole = Stream::encode(encoder.as_mut(), |_| Recovery::None);
    let mut encoder = subject.opened(&setup);
    let recovered = Stream::encode(encoder.as_mut(), |number| match number {
        53 => Recovery::Without(Stream::id(50)),
        _ => Recovery::None,
    });
    let refers_further_back = encoder.capabilities().invalidates_references;
    let expected: &[u64] = if refers_further_back { &[0] } else { &[0, 53] };
    assert_eq!(recovered.keyframes(), expected, "{}", subject.name);
    let before = whole.qualities(|_| true);
    for (number, after) in recovered.qualities(|number| !(50..53).contains(&number)) {
        let before = before[usize::try_from(number).unwrap()].1;
        let is_good = if refers_further_back {
            (after - before).abs() < 1.0
        } else {
            // The keyframe has the budget of any other frame, and others build on it.
            (50..70).contains(&number) || after > before - 1.0
        };
        assert!(
            is_good,
            "{}: {after} dB for {before} dB at frame {number}",
            subject.name
        );
    }
}

/// Checks that pictures which arrive after frames 50 to 52 are lost are decoded as the encoder
/// has them, of which [`EncodedFrame::distortion`](mimosa_video::EncodedFrame::distortion) tells.
/// This holds for a stream alone, so the check is also for encoders with several threads, whose
/// streams differ from run to run.
pub fn what_arrives_after_a_loss_is_what_was_coded(subject: &Subject) {
    let name = subject.name;
    let mut encoder = subject.opened(&Setup::new(stream_size()));
    let stream = Stream::encode(encoder.as_mut(), |number| match number {
        53 => Recovery::Without(Stream::id(50)),
        _ => Recovery::None,
    });
    assert_eq!(stream.keyframes(), [0], "{name}");
    for (number, decoded) in stream.qualities(|number| !(50..53).contains(&number)) {
        let frame = &stream.frames()[usize::try_from(number).unwrap()];
        let coded = psnr(frame.distortion.unwrap());
        assert!(
            (decoded - coded).abs() < SAME,
            "{name}: {decoded} dB decoded and {coded} dB coded at frame {number}"
        );
    }
}
