//! Elements that cannot be opened, and the hardware of this machine.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::Codec;
use mimosa_gstreamer::{Config, ELEMENTS, GStreamer, OpenError};
use mimosa_video::Size;

const RATE: u32 = 60;

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

#[test]
fn what_cannot_be_opened_is_named() {
    let config = |element: &str| Config {
        element: element.to_owned(),
        ..Config::new(size(320, 240), RATE)
    };
    let error = GStreamer::open(&config("fakesink"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`fakesink`") && error.contains("vah264enc, "),
        "{error}"
    );
    let zero = Config {
        frames_per_second: 0,
        ..config("x264enc")
    };
    assert_eq!(
        GStreamer::open(&zero).unwrap_err(),
        OpenError::FramesPerSecond(0)
    );
    // libx265 takes no such size, and the error gives the element's own words.
    let wide = Config {
        size: size(8192, 16),
        ..config("x265enc")
    };
    let error = GStreamer::open(&wide).unwrap_err();
    assert!(
        matches!(&error, OpenError::Fails { name: "x265enc", reason } if reason.contains("x265")),
        "{error}"
    );
}

/// Every hardware element works, or says why it does not.
#[test]
fn hardware_is_found_or_named() {
    let found = mimosa_gstreamer::find(size(320, 240), RATE).unwrap();
    let hardware = ELEMENTS.iter().filter(|element| element.is_hardware);
    assert_eq!(found.len(), hardware.count());
    println!("{found:?}");
    let first = GStreamer::open(&Config::new(size(320, 240), RATE));
    let works = |codec| {
        let mut found = found.iter();
        found.any(|(element, found)| {
            element.codec == codec && matches!(found, mimosa_gstreamer::TrialResult::Works(..))
        })
    };
    assert_eq!(first.is_ok(), works(Codec::H264), "{first:?}");
    if let Err(error) = first {
        assert!(error.to_string().contains("--encoder-element"), "{error}");
    }
}
