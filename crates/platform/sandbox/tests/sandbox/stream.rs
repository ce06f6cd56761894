//! Streams of real encoders.

use std::process::Command;

use mimosa_facts::{Codec, Complexity, FrameId};
use mimosa_rtp::h265;
use mimosa_scene::Scene;
use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{Encoder, FrameRequest, Picture, Plane, Recovery, Size, View};
use mimosa_x264::X264;

const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

/// The scene in so many frames of H.264, the first one a keyframe, with so many slices each.
pub(crate) fn h264(size: &str, count: usize, slices: u8) -> Vec<Vec<u8>> {
    let size: Size = size.parse().unwrap();
    let mut encoder = X264::open(mimosa_x264::Config {
        threads: slices,
        ..mimosa_x264::Config::new(size, 60)
    })
    .unwrap();
    let mut scene = Scene::new(size, 1);
    let mut picture = Picture::new(size);
    let mut next = |number: usize| {
        scene.draw(INTERVAL, &mut picture);
        let request = FrameRequest {
            frame: FrameId(number as u64),
            budget: Bytes::new(6_000),
            interval: INTERVAL,
            complexity: Complexity::C0,
            recovery: Recovery::None,
        };
        encoder.encode(&picture, &request).unwrap().data
    };
    (0..count).map(&mut next).collect()
}

/// ffmpeg's moving test picture in 24 frames of a codec, the first one a keyframe.
pub(crate) fn by_ffmpeg(codec: Codec) -> Vec<Vec<u8>> {
    let source = "-hide_banner -loglevel error -f lavfi -i testsrc2=size=320x180:rate=60 \
         -frames:v 24 -pix_fmt yuv420p -b:v 2M";
    let encoder = match codec {
        Codec::H264 => unreachable!("it has an encoder of ours"),
        Codec::H265 => {
            "-c:v libx265 -preset ultrafast -tune zerolatency \
             -x265-params log-level=none:aud=1:slices=2 -f hevc -"
        }
        Codec::Av1 => {
            "-c:v libaom-av1 -usage realtime -cpu-used 8 -lag-in-frames 0 -tiles 2x1 -f ivf -"
        }
    };
    let arguments = source.split_whitespace().chain(encoder.split_whitespace());
    let output = Command::new("ffmpeg").args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let mut frames: Vec<Vec<u8>> = Vec::new();
    if codec == Codec::Av1 {
        // IVF: 32 bytes, then for each frame four bytes of size, eight others, and the frame.
        let mut rest = &output.stdout[32..];
        while let Some((length, behind)) = rest.split_first_chunk::<4>() {
            let (frame, next) = behind[8..].split_at(u32::from_le_bytes(*length) as usize);
            frames.push(frame.to_vec());
            rest = next;
        }
    } else {
        for unit in h265::units(&output.stdout) {
            // A delimiter begins each frame.
            if unit[0] >> 1 == 35 {
                frames.push(Vec::new());
            }
            let frame = frames.last_mut().unwrap();
            frame.extend([&[0, 0, 0, 1], unit].concat());
        }
    }
    assert_eq!(frames.len(), 24);
    frames
}

/// All samples of a picture.
pub(crate) fn samples(view: &View<'_>) -> Vec<u8> {
    let planes = [Plane::Y, Plane::U, Plane::V].into_iter();
    let rows = planes.flat_map(|plane| view.rows(plane));
    rows.flatten().copied().collect()
}

/// Where the second half of an access unit of H.264 begins, by its units.
pub(crate) fn middle(frame: &[u8]) -> usize {
    let code = |window: &[u8]| window == [0, 0, 1];
    let starts: Vec<_> = (1..frame.len().saturating_sub(3))
        .filter(|at| code(&frame[*at..at + 3]))
        .map(|at| if frame[at - 1] == 0 { at - 1 } else { at })
        .collect();
    starts[starts.len() / 2]
}
