//! What comes out of the sandbox is what a decoder without one gives.

use mimosa_facts::Codec;
use mimosa_sandbox::{CopiedPicture, Local, Outcome, Sandboxed, Stop};

use crate::decoder;
use crate::stream::{by_ffmpeg, h264, middle, samples};

fn picture(outcome: Outcome, number: usize) -> CopiedPicture {
    match outcome {
        Outcome::Picture(picture) => picture,
        other => panic!("{other:?} of frame {number}"),
    }
}

/// Decodes with and without a sandbox, and compares. Slices of every second frame come before the frame if
/// `begins`.
fn compare(codec: Codec, frames: &[Vec<u8>], threads: u8, begins: bool) {
    let mut there = Sandboxed::start(decoder(), threads, Stop::default()).unwrap();
    let mut here = Local::open(threads).unwrap();
    let mut kept = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        let id = number as u64;
        if begins && number % 2 == 1 {
            let first = &frame[..middle(frame)];
            there.begin(id, 0, first);
            here.begin(id, 0, first);
        }
        let shown = picture(there.decode(id, codec, frame).unwrap(), number);
        let expected = here.decode(id, codec, frame).unwrap().unwrap();
        let (view, expected_view) = (shown.view(), expected.view());
        assert_eq!(view.size(), expected_view.size());
        assert_eq!(view.colours(), expected_view.colours());
        assert_eq!(shown.is_damaged(), expected.is_damaged());
        let all = samples(&expected_view);
        assert!(samples(&view) == all, "{codec:?}, frame {number}");
        // Some are kept longer than the next is decoded.
        if number % 5 == 0 {
            kept.push((shown, all));
        }
    }
    for (shown, all) in &kept {
        assert!(&samples(&shown.view()) == all, "it was written over");
    }
}

#[test]
fn slices_and_frames_of_h264_are_the_very_pictures() {
    let frames = h264("640x368", 60, 4);
    compare(Codec::H264, &frames, 1, true);
    compare(Codec::H264, &frames, 1, false);
    compare(Codec::H264, &frames, 4, false);
}

#[test]
fn h265_and_av1_are_the_very_pictures_with_threads_as_well() {
    for codec in [Codec::H265, Codec::Av1] {
        let frames = by_ffmpeg(codec);
        for threads in [1, 3] {
            compare(codec, &frames, threads, false);
        }
    }
}

/// One decoder after the other is opened in the sandbox, of another codec and another size.
#[test]
fn codec_and_size_may_change() {
    let mut there = Sandboxed::start(decoder(), 2, Stop::default()).unwrap();
    assert_eq!(there.codecs(), Codec::ALL);
    let streams = [
        (Codec::H264, h264("320x180", 4, 2)),
        (Codec::Av1, by_ffmpeg(Codec::Av1)),
        (Codec::H264, h264("1280x720", 4, 2)),
        (Codec::H265, by_ffmpeg(Codec::H265)),
        (Codec::H264, h264("160x90", 4, 1)),
    ];
    for (codec, frames) in &streams {
        let mut here = Local::open(2).unwrap();
        for (number, frame) in frames.iter().enumerate() {
            let id = number as u64;
            let shown = picture(there.decode(id, *codec, frame).unwrap(), number);
            let expected = here.decode(id, *codec, frame).unwrap().unwrap();
            assert!(
                samples(&shown.view()) == samples(&expected.view()),
                "{codec:?}"
            );
        }
    }
}

/// Bytes of no codec and spoiled frames are refused or have no picture, the process goes on, and a keyframe
/// gives the whole picture.
#[test]
fn what_cannot_be_decoded_is_said_and_a_keyframe_follows() {
    let mut there = Sandboxed::start(decoder(), 1, Stop::default()).unwrap();
    let process = there.process_id();
    let frames = h264("320x180", 8, 2);
    let mut without = 0;
    for round in 0..20_usize {
        for (number, frame) in frames.iter().enumerate() {
            let mut spoiled = frame.clone();
            for step in 1..6 {
                let at = (round * 31 + number * 17) * step % spoiled.len();
                spoiled[at] ^= 0x5a;
            }
            spoiled.truncate(spoiled.len() - round);
            let outcome = there.decode(number as u64, Codec::H264, &spoiled).unwrap();
            assert!(!matches!(outcome, Outcome::Replaced(_)), "{outcome:?}");
            without += usize::from(!matches!(outcome, Outcome::Picture(_)));
        }
    }
    assert!(without > 20, "{without}");
    assert!(matches!(
        there.decode(1, Codec::H264, &[]).unwrap(),
        Outcome::Nothing
    ));
    let whole = there.decode(2, Codec::H264, &frames[0]).unwrap();
    assert!(!picture(whole, 0).is_damaged());
    assert_eq!(there.process_id(), process);
}
