//! OpenH264 beside libx264: `cargo bench -p mimosa-openh264`.
//!
//! The table is the one of docs/how-it-works/encoder.md; [`compare`] says how it is measured. It needs
//! `ffmpeg`, which decodes.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]

use mimosa_conformance::{Contestant, compare};
use mimosa_openh264::OpenH264;
use mimosa_units::TimeDelta;
use mimosa_x264::X264;
use rustix::time::{ClockId, clock_gettime};

fn main() {
    compare(
        |size| {
            let x264 = X264::open(mimosa_x264::Config::new(size, 60)).unwrap();
            let openh264 = OpenH264::open(mimosa_openh264::Config::new(size, 60)).unwrap();
            vec![
                Contestant::new("libx264 c0", Box::new(x264)),
                Contestant::new("OpenH264", Box::new(openh264)),
            ]
        },
        &|| {
            let time = clock_gettime(ClockId::ProcessCPUTime);
            TimeDelta::from_nanos(time.tv_sec * 1_000_000_000 + time.tv_nsec)
        },
    );
}
