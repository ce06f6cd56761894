//! Checks of recovery after frames are lost.

use mimosa_video::Recovery;

use crate::stream::{Stream, stream_size};
use crate::subject::{Setup, Subject};

/// How far a picture may be from the same one of another run, in dB. With several threads, each codes
/// as coarsely as what it has seen of the others asks for, which depends on the machine's load; what
/// refers to a lost frame is further off.
const CLOSE: f64 = 4.0;

/// Checks that the picture comes back after frames 50 to 52 are lost and frame 53 makes
/// up for them. An encoder that [`invalidates
/// references`](mimosa_video::Capabilities::invalidates_references) does it without a
/// keyframe, and the pictures that arrive are as good as in an undisturbed stream: in the mean
/// within 1 dB, and each within 4 dB.
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
    let (mut sum, mut count) = (0.0, 0.0);
    for (number, after) in recovered.qualities(|number| !(50..53).contains(&number)) {
        let before = before[usize::try_from(number).unwrap()].1;
        let is_good = if refers_further_back {
            (after - before).abs() < CLOSE
        } else {
            // The keyframe has the budget of any other frame, and others build on it.
            (50..70).contains(&number) || after > before - 1.0
        };
        assert!(
            is_good,
            "{}: {after} dB for {before} dB at frame {number}",
            subject.name
        );
        sum += after - before;
        count += 1.0;
    }
    let mean: f64 = sum / count;
    assert!(
        !refers_further_back || mean.abs() < 1.0,
        "{}: {mean} dB on the mean",
        subject.name
    );
}
