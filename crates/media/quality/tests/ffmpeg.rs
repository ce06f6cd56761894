//! The figures of this crate beside those of `ffmpeg`'s filters `psnr` and `ssim`.
//!
//! PSNR must agree but for rounding. `ffmpeg`'s SSIM adds 0.01 * 0.01 * 255 * 255 to
//! products of sums over 64 samples, where the paper's formula would add 64 times that: its
//! C1 is a 64th of the paper's. With that one constant changed, a plain computation of the
//! paper's formula must agree with `ffmpeg` but for rounding, and with the paper's constant
//! it must agree with this crate.
//!
//! `ffmpeg` runs without vector instructions (`-cpuflags 0`): with them, release 5.1 is off
//! by 3e-4 in planes of some widths, 88 among them.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use mimosa_quality::{Frame, FrameDifference, Header, PlaneSize, Reader, frame_line, psnr};

/// Frames of a textured picture that moves, with errors that grow from frame to frame.
fn clip(size: PlaneSize, error: usize) -> Vec<Frame> {
    let noise = |i: usize| (i.wrapping_mul(2_654_435_761) >> 16) % 256;
    (0..5)
        .map(|time| {
            let mut data = Vec::new();
            for plane in size.planes() {
                for i in 0..plane.area() {
                    let (x, y) = (i % plane.width + time * 3, i / plane.width + time);
                    let texture = 60 + (x * y / 9) % 90 + (x / 7 + y / 5) % 2 * 40;
                    data.push((texture + noise(i + time) * error * time / 256) as u8);
                }
            }
            Frame::new(size, data).unwrap()
        })
        .collect()
}

fn write(path: &Path, frames: &[Frame]) {
    let header = Header {
        size: frames[0].size(),
        rate: None,
    };
    let mut file = header.to_line().into_bytes();
    for frame in frames {
        file.extend(frame_line(Some(7)).bytes());
        file.extend(frame.data());
    }
    std::fs::write(path, file).unwrap();
}

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn ffmpeg(folder: &Path, arguments: &str) {
    let output = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-y"])
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output();
    match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("install ffmpeg (Debian: apt-get install ffmpeg)")
        }
        other => {
            let output = other.unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && errors.is_empty(), "{errors}");
        }
    }
}

/// The number that a filter's line gives for `name`.
fn value(line: &str, name: &str) -> f64 {
    let mut words = line.split_whitespace();
    let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix(':'));
    let value = value.unwrap_or_else(|| panic!("no {name} in {line}"));
    if value == "inf" {
        f64::INFINITY
    } else {
        value.parse().unwrap()
    }
}

/// The mean of the paper's equation 13 over windows of 8x8 in steps of 4.
fn plain_similarity(width: usize, a: &[u8], b: &[u8], c1: f64) -> f64 {
    let c2 = (0.03 * 255.0) * (0.03 * 255.0);
    let (mut total, mut count) = (0.0, 0);
    for top in (0..=a.len() / width - 8).step_by(4) {
        for left in (0..=width - 8).step_by(4) {
            let window = |plane: &[u8]| {
                let places = (0..64).map(|i| (top + i / 8) * width + left + i % 8);
                places.map(|at| f64::from(plane[at])).collect::<Vec<_>>()
            };
            let mean = |samples: &[f64]| samples.iter().sum::<f64>() / 64.0;
            let (a, b) = (window(a), window(b));
            let (am, bm) = (mean(&a), mean(&b));
            let variance = |a: &[f64], am: f64, b: &[f64], bm: f64| {
                let products = a.iter().zip(b).map(|(a, b)| (a - am) * (b - bm));
                products.sum::<f64>() / 63.0
            };
            let variances = variance(&a, am, &a, am) + variance(&b, bm, &b, bm);
            let covariance = variance(&a, am, &b, bm);
            total += (2.0 * am * bm + c1) * (2.0 * covariance + c2)
                / ((am * am + bm * bm + c1) * (variances + c2));
            count += 1;
        }
    }
    total / f64::from(count)
}

#[test]
fn figures_are_those_of_ffmpeg() {
    for (width, height) in [(320, 240), (176, 134), (45, 37)] {
        let here = folder(&format!("figures-{width}x{height}"));
        let size = PlaneSize { width, height };
        let (reference, other) = (clip(size, 0), clip(size, 50));
        write(&here.join("reference.y4m"), &reference);
        write(&here.join("other.y4m"), &other);
        ffmpeg(
            &here,
            "-cpuflags 0 -i other.y4m -i reference.y4m -lavfi \
             [0][1]psnr=stats_file=psnr.txt;[0][1]ssim=stats_file=ssim.txt -f null -",
        );
        let lines = |name: &str| {
            let text = std::fs::read_to_string(here.join(name)).unwrap();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let (psnrs, ssims) = (lines("psnr.txt"), lines("ssim.txt"));
        assert_eq!((psnrs.len(), ssims.len()), (5, 5));
        for (number, (reference, other)) in reference.iter().zip(&other).enumerate() {
            let difference = FrameDifference::between(reference, other).unwrap();
            for (plane, name) in ["y", "u", "v"].into_iter().enumerate() {
                let theirs = value(&psnrs[number], &format!("psnr_{name}"));
                let ours = psnr(difference.squared_error[plane]);
                let is_same = (ours - theirs).abs() <= 0.006 || ours.total_cmp(&theirs).is_eq();
                assert!(
                    is_same,
                    "PSNR {ours} for {theirs} of {name} in {number} of {size}"
                );
                let theirs = value(&ssims[number], &name.to_uppercase());
                let ours = difference.similarity[plane];
                let c1 = (0.01 * 255.0) * (0.01 * 255.0);
                let plain = |c1| {
                    let width = size.planes()[plane].width;
                    plain_similarity(width, reference.planes()[plane], other.planes()[plane], c1)
                };
                let place = format!("{name} in {number} of {size}");
                let (paper, changed) = (plain(c1), plain(c1 / 64.0));
                assert!(
                    (ours - paper).abs() <= 1e-9,
                    "SSIM {ours} for {paper} of {place}"
                );
                assert!(
                    (changed - theirs).abs() <= 2e-6,
                    "SSIM {changed} for {theirs} of {place}"
                );
                assert!(
                    (ours - theirs).abs() <= 1e-4,
                    "SSIM {ours} for {theirs} of {place}"
                );
            }
        }
        let worst = FrameDifference::between(&reference[4], &other[4]).unwrap();
        assert!(psnr(worst.squared_error[0]) < 30.0, "the clips are alike");
    }
}

#[test]
fn files_of_ffmpeg_are_read_and_ours_by_it() {
    let here = folder("files");
    for (width, height) in [(64, 48), (45, 37)] {
        let frames = clip(PlaneSize { width, height }, 20);
        write(&here.join("ours.y4m"), &frames);
        ffmpeg(
            &here,
            "-i ours.y4m -c:v wrapped_avframe -f yuv4mpegpipe theirs.y4m",
        );
        let theirs = std::fs::read(here.join("theirs.y4m")).unwrap();
        let mut reader = Reader::new();
        let mut rest = theirs.as_slice();
        let mut count = 0;
        while let Some(frame) = reader.read(&mut rest).unwrap() {
            assert_eq!(frame.data(), frames[count].data());
            count += 1;
        }
        reader.end().unwrap();
        assert_eq!(count, frames.len());
    }
}
