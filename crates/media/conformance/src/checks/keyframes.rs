//! Checks of keyframes: when they come, and that they stand alone.

use mimosa_facts::FrameId;
use mimosa_units::Bytes;
use mimosa_video::{FrameRequest, Recovery};

use crate::clip::Clip;
use crate::request::{amount, plain_request};
use crate::stream::{Stream, stream_size};
use crate::subject::{Setup, Subject};
use crate::units::unit_types;

/// Checks that the first frame is a keyframe, and each that is asked for, and no other:
/// not at a scene cut, and not when the lost frames were never encoded. A loss makes one
/// unless the encoder can refer to older frames.
pub fn keyframes_come_when_asked_for(subject: &Subject) {
    let name = subject.name;
    let pictures = &subject.small;
    let budget = amount(pictures.highest / 6.0);
    let mut clip = Clip::new(pictures.size, 4);
    let mut encoder = subject.opened(&Setup::new(pictures.size));
    let capabilities = encoder.capabilities().clone();
    for number in 0..150 {
        // Every other number is a frame that was skipped.
        let recovery = match number {
            70 => Recovery::Keyframe,
            80 => Recovery::Without(FrameId(156)),
            // Frame 90 had number 180, so nothing is lost.
            91 => Recovery::Without(FrameId(181)),
            _ => Recovery::None,
        };
        let request = FrameRequest {
            recovery,
            ..plain_request(number * 2, budget)
        };
        let time = number + number / subject.cut as u64 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        let keyframe = match number {
            0 | 70 => true,
            80 => !capabilities.invalidates_references,
            _ => false,
        };
        assert_eq!(frame.is_keyframe, keyframe, "{name} at frame {number}");
        assert_eq!(frame.frame, FrameId(number * 2), "{name}");
        if let Some(units) = subject.units {
            let expected = if keyframe {
                units.keyframe
            } else {
                units.other
            };
            let found = unit_types(subject.codec, &frame.data);
            assert_eq!(found, expected, "{name}: units of frame {number}");
        }
        if capabilities.obeys_budget {
            let size = Bytes::new(frame.data.len() as u64);
            assert!(size <= budget, "{name}: {size} at frame {number}");
        }
    }
}

/// Checks that a decoder that begins at a keyframe shows what one that saw everything
/// shows, until the end of the stream.
pub fn keyframes_need_nothing_before_them(subject: &Subject) {
    let setup = Setup::new(stream_size());
    let stream = Stream::encode(subject.opened(&setup).as_mut(), |number| match number {
        20 | 40 => Recovery::Keyframe,
        _ => Recovery::None,
    });
    assert_eq!(stream.keyframes(), [0, 20, 40], "{}", subject.name);
    let whole = stream.decode(|_| true);
    for keyframe in [20, 40] {
        let later = stream.decode(|number| number >= keyframe);
        let skipped = usize::try_from(keyframe).unwrap();
        assert!(
            later == whole[skipped..],
            "{}: a decoder that begins at frame {keyframe} shows other pictures",
            subject.name
        );
        let alone = stream.decode(|number| number == keyframe);
        assert!(alone == whole[skipped..=skipped], "{}", subject.name);
    }
}
