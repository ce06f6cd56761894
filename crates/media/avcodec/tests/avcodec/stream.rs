//! The built-in scene as an encoded stream.

use mimosa_avcodec::{DecodedPicture, Decoder};
use mimosa_facts::{Complexity, FrameId};
use mimosa_openh264::OpenH264;
use mimosa_scene::Scene;
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{EncodedFrame, Encoder, FrameRequest, Picture, Plane, Recovery, Size, View};
use mimosa_x264::X264;

const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

pub(crate) fn size(text: &str) -> Size {
    text.parse().unwrap()
}

/// The first pictures of the scene.
pub(crate) fn scene(size: Size, count: usize) -> Vec<Picture> {
    let mut scene = Scene::new(size, 1);
    let mut picture = Picture::new(size);
    let mut draw = || {
        scene.draw(INTERVAL, &mut picture);
        picture.clone()
    };
    (0..count).map(|_| draw()).collect()
}

pub(crate) fn x264(size: Size, threads: u8) -> X264 {
    X264::open(mimosa_x264::Config {
        threads,
        ..mimosa_x264::Config::new(size, 60)
    })
    .unwrap()
}

pub(crate) fn openh264(size: Size) -> OpenH264 {
    OpenH264::open(mimosa_openh264::Config::new(size, 60)).unwrap()
}

/// Encodes `pictures`; `recovery` gives the request of each frame.
pub(crate) fn encode(
    encoder: &mut dyn Encoder,
    pictures: &[Picture],
    recovery: impl Fn(u64) -> Recovery,
) -> Vec<EncodedFrame> {
    let frames = (0..).zip(pictures).map(|(number, picture)| {
        let request = FrameRequest {
            frame: FrameId(number),
            budget: Bytes::new(6_000),
            interval: INTERVAL,
            complexity: Complexity::C0,
            recovery: recovery(number),
        };
        encoder.encode(picture, &request).unwrap()
    });
    frames.collect()
}

/// Decodes an access unit that must give a picture.
pub(crate) fn decode(decoder: &mut Decoder, frame: &EncodedFrame) -> DecodedPicture {
    let picture = decoder.decode(&frame.data).unwrap();
    picture.unwrap_or_else(|| panic!("no picture of {:?}", frame.frame))
}

/// The mean squared error of the brightness.
pub(crate) fn distortion(picture: &Picture, decoded: &View<'_>) -> f64 {
    let source = picture.view();
    let pairs = source.rows(Plane::Y).zip(decoded.rows(Plane::Y));
    let squares: u64 = pairs
        .flat_map(|(source, decoded)| source.iter().zip(decoded))
        .map(|(source, decoded)| u64::from(source.abs_diff(*decoded)).pow(2))
        .sum();
    squares as f64 / picture.size().luma_len() as f64
}

/// All samples of a decoded picture.
pub(crate) fn samples(decoded: &View<'_>) -> Vec<u8> {
    let planes = [Plane::Y, Plane::U, Plane::V].into_iter();
    planes
        .flat_map(|plane| decoded.rows(plane))
        .flatten()
        .copied()
        .collect()
}
