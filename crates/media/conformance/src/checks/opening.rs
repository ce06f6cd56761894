//! Checks of the sizes that an encoder takes and refuses.

use mimosa_video::{EncodeError, Picture, Size};

use crate::ffmpeg::decode;
use crate::request::{amount, plain_request};
use crate::subject::{Setup, Subject};

/// Checks that an encoder that encodes nothing can be closed.
pub fn an_unused_encoder_closes(subject: &Subject) {
    for &threads in subject.sizes.threads {
        drop(subject.opened(&Setup {
            threads,
            ..Setup::new(Size::new(320, 180).unwrap())
        }));
    }
}

/// Checks that a picture of another size gives an error, after which the stream goes on.
pub fn pictures_of_another_size_are_refused(subject: &Subject) {
    let (right, wrong) = (Size::new(320, 240).unwrap(), Size::new(240, 320).unwrap());
    let mut encoder = subject.opened(&Setup::new(right));
    for number in 0..2 {
        let request = plain_request(number, amount(1.0));
        let error = encoder.encode(&Picture::new(wrong), &request);
        assert!(
            matches!(error, Err(EncodeError::WrongSize { got, expected }) if got == wrong && expected == right),
            "{}: {error:?}",
            subject.name
        );
        let frame = encoder.encode(&Picture::new(right), &request).unwrap();
        assert_eq!(frame.is_keyframe, number == 0, "{}", subject.name);
    }
}

/// Checks that pictures of every size the subject names become pictures of that size:
/// the smallest, a large one, and some that are no multiples of a block.
pub fn every_size_encodes(subject: &Subject) {
    for &(width, height) in subject.sizes.work {
        let size = Size::new(width, height).unwrap();
        for &threads in subject.sizes.threads {
            let mut encoder = subject.opened(&Setup {
                threads,
                frames_per_second: subject.sizes.frames_per_second,
                ..Setup::new(size)
            });
            let mut stream = Vec::new();
            for number in 0..3 {
                let request = plain_request(number, amount(20.0));
                let frame = encoder.encode(&Picture::new(size), &request).unwrap();
                let name = subject.name;
                assert_eq!(frame.is_keyframe, number == 0, "{name}, {size}, {threads}");
                stream.extend(frame.data);
            }
            let decoded = decode(subject.codec, size, stream);
            assert_eq!(decoded.len(), 3, "{}, {size}, {threads}", subject.name);
        }
    }
}

/// Checks that sizes that the encoder cannot take are refused with a reason.
pub fn sizes_beyond_the_limits_are_refused(subject: &Subject) {
    for &(width, height) in subject.sizes.refused {
        let size = Size::new(width, height).unwrap();
        match (subject.open)(&Setup::new(size)) {
            Ok(_) => panic!("{} takes pictures of {size}", subject.name),
            Err(reason) => assert!(!reason.is_empty(), "{} at {size}", subject.name),
        }
    }
}
