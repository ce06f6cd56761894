//! A recording with pictures, measured: what was coded and what was on the screen.

use std::path::Path;

use mimosa_facts::{Complexity, FrameId};
use mimosa_quality::{Header, INDEX_HEADER, IndexRow, PlaneSize, frame_line};
use mimosa_record::SessionRecorder;
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::{Encoder, FrameRequest, Picture, Recovery, Size};
use mimosa_x264::{Config, X264};
use serde_json::Value;

use crate::reports::frame;
use crate::{folder, mimosa, stdout};

const FRAMES: u64 = 20;
/// These never came, and number 10 makes up for them.
const LOST: [u64; 2] = [8, 9];
/// This came and was never shown.
const HIDDEN: u64 = 14;
/// The disk was too slow for this one's picture.
const LEFT_OUT: u64 = 17;

/// A pattern that moves.
fn picture(number: u64) -> Picture {
    let mut picture = Picture::new(Size::new(320, 240).unwrap());
    let time = usize::try_from(number).unwrap();
    for plane in picture.planes_mut() {
        for (i, sample) in plane.iter_mut().enumerate() {
            let (x, y) = (i % 160 + time * 4, i / 160 + time);
            *sample = u8::try_from(60 + (x / 16 + y / 16) % 2 * 80 + x % 16 * 3).unwrap();
        }
    }
    picture
}

/// Frames of a host: each coded, and some with what went wrong.
fn record(here: &Path) {
    let mut encoder = X264::open(Config::new(Size::new(320, 240).unwrap(), 60)).unwrap();
    let size = PlaneSize {
        width: 320,
        height: 240,
    };
    let mut pictures = Header { size, rate: None }.to_line().into_bytes();
    let (mut coded, mut index) = (Vec::new(), INDEX_HEADER.to_owned());
    let mut session = SessionRecorder::new(Vec::new(), "{}").unwrap();
    for number in 0..FRAMES {
        let picture = picture(number);
        let request = FrameRequest {
            frame: FrameId(number),
            budget: Bytes::new(6_000),
            interval: TimeDelta::from_micros(16_667),
            complexity: Complexity::C0,
            recovery: if number == 10 {
                Recovery::Without(FrameId(8))
            } else {
                Recovery::None
            },
        };
        let made = encoder.encode(&picture, &request).unwrap();
        assert_eq!(made.is_keyframe, number == 0);
        let row = IndexRow {
            frame: number,
            captured: Time::from_millis(number * 16),
            rtp_timestamp: 0,
            is_keyframe: made.is_keyframe,
            has_picture: number != LEFT_OUT,
            offset: coded.len() as u64,
            bytes: made.data.len() as u64,
        };
        index.push_str(&row.to_line());
        coded.extend(made.data);
        if row.has_picture {
            pictures.extend(frame_line(Some(number)).bytes());
            for plane in picture.planes() {
                pictures.extend(plane);
            }
        }
        let mut fate = frame(number);
        if LOST.contains(&number) {
            fate.life.end = None;
            (fate.received, fate.decoded, fate.shown) = (None, None, None);
        }
        if number == HIDDEN {
            fate.shown = None;
        }
        session.push(fate).unwrap();
    }
    std::fs::write(here.join("pictures.y4m"), pictures).unwrap();
    std::fs::write(here.join("coded.h264"), coded).unwrap();
    std::fs::write(here.join("frames.csv"), index).unwrap();
    std::fs::write(here.join("session.parquet"), session.finish().unwrap()).unwrap();
}

/// The weighted squared errors by the number of the frame.
fn errors(out: &Value, measure: &str) -> Vec<(u64, f64)> {
    let frames = out["measured"][measure]["per_frame"].as_array().unwrap();
    let error = |frame: &Value| {
        let error = frame["squared_error"]["y"].as_f64();
        (frame["frame"].as_u64().unwrap(), error.unwrap())
    };
    frames.iter().map(error).collect()
}

#[test]
fn the_screen_shows_the_last_frame_that_came() {
    let here = folder("recording");
    record(&here);
    let text = stdout(&here, "quality --recording . --json out.json");
    let note = "20 frames, of which 1 have no picture: 17 were shown, at 3 the one before \
                stayed, 0 came before the first";
    assert!(text.contains(note), "{text}");
    let out = std::fs::read_to_string(here.join("out.json")).unwrap();
    let out: Value = serde_json::from_str(&out).unwrap();
    let coded = errors(&out, "the stream as coded");
    let seen = errors(&out, "the screen with repeats");
    let numbers: Vec<_> = (0..FRAMES).filter(|number| *number != LEFT_OUT).collect();
    for errors in [&coded, &seen] {
        assert_eq!(errors.iter().map(|of| of.0).collect::<Vec<_>>(), numbers);
    }
    for ((number, coded), (_, seen)) in coded.into_iter().zip(seen) {
        if LOST.contains(&number) || number == HIDDEN {
            assert!(seen > 2.0 * coded, "{seen} for {coded} at {number}");
        } else {
            assert!(
                (seen - coded).abs() < 1e-9,
                "{seen} for {coded} at {number}"
            );
        }
    }
}

#[test]
fn a_damaged_recording_is_refused() {
    let here = folder("recording-damaged");
    let refused = |what: &str| {
        let output = mimosa(&here, "quality --recording .");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(what), "{errors}");
    };
    refused("frames.csv: ");
    record(&here);
    let change = |name: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let path = here.join(name);
        let before = std::fs::read(&path).unwrap();
        std::fs::write(&path, change(before.clone())).unwrap();
        before
    };
    let whole = change("pictures.y4m", &|file| {
        file[..file.len() - 2 * (115_200 + "FRAME XNUMBER=19\n".len())].to_vec()
    });
    refused("have no frame 18 where its index has one");
    change("pictures.y4m", &|_| whole.clone());
    let whole = change("coded.h264", &|file| file[..file.len() - 1].to_vec());
    refused("coded.h264");
    change("coded.h264", &|_| whole.clone());
    let whole = change("frames.csv", &|file| [file, b"20,\n".to_vec()].concat());
    refused("frames.csv: line 22: `20,` is not a row");
    change("frames.csv", &|_| whole.clone());
    change("session.parquet", &|_| b"nothing".to_vec());
    refused("session.parquet: it is no Parquet file");
}
