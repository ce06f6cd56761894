//! Writes the scene, which flies by itself, as YUV4MPEG2: `cargo run --release -p
//! mimosa-scene --example clip -- 1280x720 600 OUT.y4m`.
//!
//! The clip has 60 pictures per second of the scene's time and reads no clock: the same
//! arguments give the same bytes.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use mimosa_quality::{FrameRate, Header, PlaneSize, frame_line};
use mimosa_scene::Scene;
use mimosa_units::TimeDelta;
use mimosa_video::{Picture, Size};

/// The seed of the host's scene.
const SEED: u64 = 1;
const FRAMES_PER_SECOND: u32 = 60;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [size, frames, path] = arguments.as_slice() else {
        return Err("write a size, a number of frames and a file: 1280x720 600 OUT.y4m".into());
    };
    let size: Size = size.parse()?;
    let frames: u64 = frames.parse()?;
    let header = Header {
        size: PlaneSize {
            width: size.width() as usize,
            height: size.height() as usize,
        },
        rate: Some(FrameRate {
            frames: FRAMES_PER_SECOND,
            seconds: 1,
        }),
    };
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(header.to_line().as_bytes())?;
    let mut scene = Scene::new(size, SEED);
    let mut picture = Picture::new(size);
    let step = TimeDelta::from_secs(1.0) / FRAMES_PER_SECOND;
    for number in 0..frames {
        scene.draw(step, &mut picture);
        out.write_all(frame_line(Some(number)).as_bytes())?;
        for plane in picture.planes() {
            out.write_all(plane)?;
        }
    }
    out.flush()?;
    Ok(())
}
