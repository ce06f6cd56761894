//! Decoded pictures are the ones that the encoder meant, at once and in their size.

use mimosa_avcodec::{DecodeError, DecodedPicture, Decoder};
use mimosa_facts::Codec;
use mimosa_video::{Colours, Matrix, Plane, Recovery};

use crate::stream::{decode, distortion, encode, openh264, samples, scene, size, x264};

/// x264 states the error of the picture that the next frame refers to. The decoder's
/// picture has exactly this error, so it is the same picture.
#[test]
fn each_access_unit_gives_the_picture_that_the_encoder_goes_on_from() {
    let pictures = scene(size("320x180"), 30);
    let frames = encode(&mut x264(size("320x180"), 1), &pictures, |_| Recovery::None);
    let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
    for (number, (frame, picture)) in frames.iter().zip(&pictures).enumerate() {
        let shown = decode(&mut decoder, frame);
        let got = distortion(picture, &shown.view());
        assert_eq!(frame.distortion, Some(got), "{:?}", frame.frame);
        assert!(!shown.is_damaged());
        // A keyframe has no more bytes than the other frames, so it is coarse.
        assert!(number < 5 || got < 100.0, "{got} at {:?}", frame.frame);
    }
}

/// Two threads, one for each of two slices, make the same pictures as one thread for both.
#[test]
fn threads_change_nothing_in_the_picture() {
    let pictures = scene(size("320x180"), 30);
    let frames = encode(&mut x264(size("320x180"), 2), &pictures, |_| Recovery::None);
    let (mut one, mut two) = (
        Decoder::new(Codec::H264, 1).unwrap(),
        Decoder::new(Codec::H264, 2).unwrap(),
    );
    for frame in &frames {
        let slices = frame.data.windows(5).filter(|bytes| {
            let [zeros @ .., kind] = bytes else {
                return false;
            };
            zeros.ends_with(&[0, 0, 1]) && [1, 5].contains(&(kind & 31))
        });
        assert_eq!(slices.count(), 2, "{:?}", frame.frame);
        let (one, two) = (decode(&mut one, frame), decode(&mut two, frame));
        let same = samples(&one.view()) == samples(&two.view());
        assert!(same, "{:?}", frame.frame);
        assert!(!one.is_damaged() && !two.is_damaged());
    }
}

#[test]
fn colours_come_out_as_they_went_in() {
    let pictures = scene(size("320x180"), 5);
    let none = |_| Recovery::None;
    let streams = [
        encode(&mut x264(size("320x180"), 1), &pictures, none),
        encode(&mut openh264(size("320x180")), &pictures, none),
    ];
    for frames in streams {
        let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
        for (frame, picture) in frames.iter().zip(&pictures) {
            let shown = decode(&mut decoder, frame);
            let expected = Colours {
                matrix: Matrix::Bt709,
                is_full_range: false,
            };
            assert_eq!(shown.view().colours(), expected);
            for plane in [Plane::U, Plane::V] {
                let mean = |rows: &mut dyn Iterator<Item = &[u8]>| {
                    let (sum, count) = rows.flatten().fold((0, 0), |(sum, count), byte| {
                        (sum + u32::from(*byte), count + 1)
                    });
                    f64::from(sum) / f64::from(count)
                };
                let went = mean(&mut picture.view().rows(plane));
                let came = mean(&mut shown.view().rows(plane));
                assert!((went - came).abs() < 1.0, "{plane:?}: {went}, {came}");
            }
        }
    }
}

#[test]
fn the_size_may_change_and_a_picture_stays_as_it_was() {
    let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
    let mut kept: Vec<(DecodedPicture, Vec<u8>)> = Vec::new();
    for text in ["320x180", "640x368", "160x90", "320x180"] {
        let pictures = scene(size(text), 4);
        let frames = encode(&mut x264(size(text), 1), &pictures, |_| Recovery::None);
        for (frame, picture) in frames.iter().zip(&pictures) {
            let shown = decode(&mut decoder, frame);
            assert_eq!(shown.size(), size(text));
            let got = distortion(picture, &shown.view());
            assert_eq!(frame.distortion, Some(got), "{text}, {:?}", frame.frame);
            let all = samples(&shown.view());
            kept.push((shown, all));
        }
    }
    assert_eq!(kept.len(), 16);
    for (shown, all) in &kept {
        assert!(&samples(&shown.view()) == all, "it was written over");
    }
}

#[test]
fn threads_that_make_no_sense_are_named() {
    for threads in [0, 17] {
        let error = Decoder::new(Codec::H264, threads).unwrap_err();
        assert!(matches!(error, DecodeError::Threads(_)), "{error}");
        assert_eq!(
            error.to_string(),
            format!("{threads} threads; state 1 to 16")
        );
    }
}
