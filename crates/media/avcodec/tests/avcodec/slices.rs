//! Frames whose slices are decoded before the frame is whole.

use mimosa_avcodec::Decoder;
use mimosa_facts::{Codec, FrameId};
use mimosa_video::{EncodedFrame, Encoder, Recovery};

use crate::stream::{encode, samples, scene, size, x264};

/// Number of slices of a frame.
const SLICES: u8 = 6;

/// An encoder that codes each frame in slices.
struct Sliced<E>(E);

impl<E: Encoder> Encoder for Sliced<E> {
    fn capabilities(&self) -> &mimosa_video::Capabilities {
        self.0.capabilities()
    }

    fn encode(
        &mut self,
        picture: &mimosa_video::Picture,
        request: &mimosa_video::FrameRequest,
    ) -> Result<EncodedFrame, mimosa_video::EncodeError> {
        self.0
            .encode_in_parts(picture, request, SLICES, &mut |_| {})
    }
}

/// Frames in slices. What `recovery` says, the encoder is asked for with each frame.
fn frames(count: usize, recovery: impl Fn(u64) -> Recovery) -> Vec<EncodedFrame> {
    let pictures = scene(size("320x180"), count);
    encode(&mut Sliced(x264(size("320x180"), 1)), &pictures, recovery)
}

/// Where each unit of a frame begins, and where the last one ends.
fn bounds(frame: &EncodedFrame) -> Vec<usize> {
    let data = &frame.data;
    let long = |at: &usize| data[*at..].starts_with(&[0, 0, 0, 1]);
    let short = |at: &usize| {
        data[*at..].starts_with(&[0, 0, 1])
            && at.checked_sub(1).is_none_or(|before| data[before] != 0)
    };
    let mut all: Vec<_> = (0..data.len()).filter(|at| long(at) || short(at)).collect();
    all.push(data.len());
    all
}

/// Gives the first `count` units of a frame, one by one, as its beginning.
fn begin(decoder: &mut Decoder, frame: &EncodedFrame, count: usize) {
    for pair in bounds(frame).windows(2).take(count) {
        decoder.begin(frame.frame.0, pair[0], &frame.data[pair[0]..pair[1]]);
    }
}

fn decoded(decoder: &mut Decoder, frame: &EncodedFrame) -> Vec<u8> {
    let picture = decoder.decode_begun(frame.frame.0, &frame.data).unwrap();
    let picture = picture.unwrap_or_else(|| panic!("no picture of {:?}", frame.frame));
    assert!(!picture.is_damaged());
    samples(&picture.view())
}

#[test]
fn a_frame_that_was_begun_gives_the_same_picture() {
    let frames = frames(40, |_| Recovery::None);
    let mut whole = Decoder::new(Codec::H264, 1).unwrap();
    let mut begun = Decoder::of_slices().unwrap();
    for frame in &frames {
        let units = bounds(frame).len() - 1;
        assert!(units >= usize::from(SLICES), "{units} units");
        // None, some, or all units but the last.
        let count = match frame.frame.0 % 3 {
            0 => 0,
            1 => units / 2,
            _ => units - 1,
        };
        begin(&mut begun, frame, count);
        let expected = whole.decode(&frame.data).unwrap().unwrap();
        assert_eq!(
            decoded(&mut begun, frame),
            samples(&expected.view()),
            "{:?}",
            frame.frame
        );
    }
}

/// Every seventh frame is never whole at the decoder, and the next one does without it.
#[test]
fn what_was_begun_and_given_up_leaves_no_trace() {
    let is_lost = |number: u64| number % 7 == 5;
    let frames = frames(60, |number| match number {
        0 => Recovery::None,
        number if is_lost(number - 1) => Recovery::Without(FrameId(number - 1)),
        _ => Recovery::None,
    });
    let mut without = Decoder::new(Codec::H264, 1).unwrap();
    let mut begun = Decoder::of_slices().unwrap();
    for frame in &frames {
        let units = bounds(frame).len() - 1;
        begin(&mut begun, frame, units / 2);
        if is_lost(frame.frame.0) {
            continue;
        }
        let expected = without.decode(&frame.data).unwrap().unwrap();
        assert_eq!(
            decoded(&mut begun, frame),
            samples(&expected.view()),
            "{:?}",
            frame.frame
        );
    }
}

/// A caller's mistakes, and units that are none: the whole frame decodes all the same.
#[test]
fn a_beginning_that_does_not_fit_is_left_out() {
    let frames = frames(6, |_| Recovery::None);
    let mut decoder = Decoder::of_slices().unwrap();
    let mut whole = Decoder::new(Codec::H264, 1).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let cuts = bounds(frame);
        match number {
            // The second unit without the first.
            1 => decoder.begin(1, cuts[1], &frame.data[cuts[1]..cuts[2]]),
            // The beginning of another frame.
            2 => decoder.begin(9, 0, &frame.data[..cuts[1]]),
            3 => decoder.begin(3, 0, &[]),
            4 => decoder.begin(4, 0, &[0, 0, 0, 1, 0x41, 0xff, 0xff, 0xff]),
            _ => {}
        }
        let expected = whole.decode(&frame.data).unwrap().unwrap();
        let picture = decoder.decode_begun(frame.frame.0, &frame.data);
        let Ok(Some(picture)) = picture else {
            // Units that nobody coded spoil their frame alone.
            assert_eq!(number, 4, "{picture:?}");
            continue;
        };
        if number < 4 {
            assert_eq!(
                samples(&picture.view()),
                samples(&expected.view()),
                "{number}"
            );
        }
    }
}
