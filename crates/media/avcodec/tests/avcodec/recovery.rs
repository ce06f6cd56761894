//! Streams that go on after frames are lost.

use std::ops::Range;

use mimosa_avcodec::Decoder;
use mimosa_facts::{Codec, FrameId};
use mimosa_video::{EncodedFrame, Picture, Recovery};

use crate::stream::{decode, distortion, encode, openh264, samples, scene, size, x264};

/// The frames that do not arrive.
const LOST: Range<usize> = 10..12;

/// Reports the loss to the encoder with the next frame.
fn told(number: u64) -> Recovery {
    match number {
        12 => Recovery::Without(FrameId(10)),
        _ => Recovery::None,
    }
}

/// The distortion of each arriving frame's decoded picture, and the distortion that the
/// encoder states for it.
fn distortions(frames: &[EncodedFrame], pictures: &[Picture]) -> Vec<(usize, f64, f64)> {
    let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
    let mut found = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        if !LOST.contains(&number) {
            let shown = decode(&mut decoder, frame);
            // Frame numbers alone show which frames are missing.
            assert!(!shown.is_damaged());
            let got = distortion(&pictures[number], &shown.view());
            found.push((number, got, frame.distortion.unwrap()));
        }
    }
    found
}

/// x264 refers to a frame that arrived. The very next decoded picture equals the encoder's
/// to the last sample: no error, no grey, no keyframe.
#[test]
fn without_the_lost_references_the_decoder_has_what_the_encoder_has() {
    let pictures = scene(size("320x180"), 40);
    let frames = encode(&mut x264(size("320x180"), 1), &pictures, told);
    assert!(frames.iter().skip(1).all(|frame| !frame.is_keyframe));
    let found = distortions(&frames, &pictures);
    assert_eq!(found.len(), 38);
    for (number, got, encoders) in &found {
        let apart = (got - encoders).abs();
        assert!(apart < 1e-9, "{got}, not {encoders}, at frame {number}");
    }
    let mean = |numbers: Range<usize>| {
        let of = found.iter().filter(|(number, ..)| numbers.contains(number));
        of.map(|(_, got, _)| got).sum::<f64>() / numbers.len() as f64
    };
    let (before, after) = (mean(6..10), mean(12..16));
    assert!(after < before * 1.3, "{after} after {before}");
}

/// When nobody reports the loss, the encoder refers to frames that the decoder lacks.
#[test]
fn with_the_lost_references_the_decoder_drifts_away() {
    let pictures = scene(size("320x180"), 40);
    let frames = encode(&mut x264(size("320x180"), 1), &pictures, |_| Recovery::None);
    for (number, got, encoders) in distortions(&frames, &pictures) {
        if number < LOST.start {
            assert!((got - encoders).abs() < 1e-9, "at frame {number}");
        } else {
            assert!(
                got > encoders * 1.2,
                "{got} for {encoders} at frame {number}"
            );
        }
    }
}

/// OpenH264 makes a keyframe. From there on, a decoder that missed frames shows the same
/// pictures as one that begins with the keyframe.
#[test]
fn a_keyframe_makes_up_for_what_was_lost() {
    let pictures = scene(size("320x180"), 30);
    let frames = encode(&mut openh264(size("320x180")), &pictures, told);
    assert!(frames[12].is_keyframe);
    let (mut old, mut new) = (
        Decoder::new(Codec::H264, 1).unwrap(),
        Decoder::new(Codec::H264, 1).unwrap(),
    );
    for (number, frame) in frames.iter().enumerate() {
        if !LOST.contains(&number) {
            let shown = decode(&mut old, frame);
            assert!(!shown.is_damaged());
            if number >= LOST.end {
                let other = decode(&mut new, frame);
                let same = samples(&shown.view()) == samples(&other.view());
                assert!(same, "at frame {number}");
            }
        }
    }
}
