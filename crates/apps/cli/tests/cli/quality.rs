//! Pictures compared with pictures.

use std::path::Path;
use std::process::Command;

use mimosa_quality::{FrameRate, Header, PlaneSize, frame_line};
use serde_json::Value;

use crate::{folder, mimosa, stdout};

/// Writes frames of one brightness, each with its number if it has one.
pub(crate) fn write(path: &Path, (width, height): (usize, usize), frames: &[(Option<u64>, u8)]) {
    let size = PlaneSize { width, height };
    let header = Header {
        size,
        rate: Some(FrameRate {
            frames: 60,
            seconds: 1,
        }),
    };
    let mut file = header.to_line().into_bytes();
    for (number, luma) in frames {
        file.extend(frame_line(*number).bytes());
        file.extend(vec![*luma; size.area()]);
        file.extend(vec![128; size.frame_len() - size.area()]);
    }
    std::fs::write(path, file).unwrap();
}

fn refusal(here: &Path, arguments: &str) -> String {
    let output = mimosa(here, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}");
    errors
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A number in `value`, named by the path to it.
fn at(value: &Value, path: &str) -> f64 {
    let found = value.pointer(path);
    let number = found.and_then(Value::as_f64);
    number.unwrap_or_else(|| panic!("no {path} in {value:#}"))
}

fn ffmpeg(here: &Path, arguments: &str) {
    let output = Command::new("ffmpeg")
        .args(["-loglevel", "error", "-y"])
        .args(arguments.split_whitespace())
        .current_dir(here)
        .output()
        .unwrap_or_else(|error| panic!("{error}: install ffmpeg (Debian: apt-get install ffmpeg)"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

#[test]
fn figures_are_printed_and_written() {
    let here = folder("quality");
    let plain = |luma: [u8; 2]| luma.map(|luma| (None, luma));
    write(&here.join("a.y4m"), (32, 16), &plain([100, 100]));
    write(&here.join("b.y4m"), (32, 16), &plain([110, 100]));
    let text = stdout(&here, "quality a.y4m b.y4m --json out.json");
    assert!(text.starts_with("b.y4m against a.y4m, 32x16\n"), "{text}");
    let row = |name: &str| {
        let mut lines = text.lines().filter(|line| line.starts_with(name));
        let cells = lines.next().unwrap().split_whitespace().skip(1);
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    // Errors of 100 and 0: 10 log10(65025 / 50) and 10 log10(65025 / 100).
    assert_eq!(row("psnr_y"), ["31.14", "28.13", "28.13"]);
    assert_eq!(row("psnr_u"), ["inf", "inf", "inf"]);
    // 6/8 of the error: 10 log10(65025 / 37.5) and 10 log10(65025 / 75).
    assert_eq!(row("psnr_weighted"), ["32.39", "29.38", "29.38"]);
    assert_eq!(row("ssim_y"), ["0.9977", "0.9955", "0.9955"]);
    assert!(text.contains("The mean PSNR is that of the mean squared error."));
    let out = json(&here.join("out.json"));
    let all = &out["measured"]["all frames"];
    assert_eq!(all["frames"], 2);
    assert!((at(all, "/summary/psnr_y/mean") - 31.141).abs() < 0.001);
    assert_eq!(all["summary"]["psnr_u"]["mean"], Value::Null, "infinite");
    assert!((at(all, "/per_frame/0/squared_error/y") - 100.0).abs() < 1e-9);
    assert!((at(all, "/per_frame/1/ssim/y") - 1.0).abs() < 1e-9);
}

#[test]
fn only_what_is_asked_for_is_measured() {
    let here = folder("quality-metrics");
    write(&here.join("a.y4m"), (32, 16), &[(None, 100)]);
    let text = stdout(&here, "quality a.y4m a.y4m --metrics ssim");
    assert!(text.contains("ssim_y") && !text.contains("psnr") && !text.contains("vmaf"));
}

#[test]
fn frames_are_paired_by_their_numbers() {
    let here = folder("quality-align");
    let numbered = [(Some(3), 100), (Some(5), 120), (Some(6), 140)];
    write(&here.join("a.y4m"), (32, 16), &numbered);
    write(
        &here.join("b.y4m"),
        (32, 16),
        &[(Some(4), 9), (Some(5), 120), (Some(6), 150)],
    );
    let text = stdout(&here, "quality a.y4m b.y4m --align --json out.json");
    let note = "paired by frame number: 1 frames are only in a.y4m, 1 only in b.y4m";
    assert!(text.contains(note), "{text}");
    let out = json(&here.join("out.json"));
    let frames = out["measured"]["all frames"]["per_frame"].clone();
    let errors = [("/0", 5, 0.0), ("/1", 6, 100.0)];
    for (place, number, error) in errors {
        let frame = frames.pointer(place).unwrap();
        assert_eq!(frame["frame"], number);
        assert!((at(frame, "/squared_error/y") - error).abs() < 1e-9);
    }
    write(&here.join("c.y4m"), (32, 16), &[(Some(8), 9)]);
    write(&here.join("d.y4m"), (32, 16), &[(Some(3), 9), (Some(3), 9)]);
    write(&here.join("e.y4m"), (32, 16), &[(Some(3), 9), (None, 9)]);
    for (other, message) in [
        (
            "c.y4m",
            "a.y4m and c.y4m have no frame number in common; name two files of one recording",
        ),
        (
            "d.y4m",
            "frame 1 of d.y4m, counted from zero, has the number 3, no more than the one before; \
             let numbers rise, or leave --align out",
        ),
        (
            "e.y4m",
            "frame 1 of e.y4m, counted from zero, has no number to pair it by; --align is for \
             .y4m files that `mimosa` wrote; leave it out where no frame is missing",
        ),
    ] {
        let said = refusal(&here, &format!("quality a.y4m {other} --align"));
        assert_eq!(said, format!("error: {message}\n"));
    }
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let here = folder("quality-refusals");
    write(&here.join("a.y4m"), (32, 16), &[(None, 1), (None, 1)]);
    write(&here.join("short.y4m"), (32, 16), &[(None, 1)]);
    write(&here.join("wide.y4m"), (48, 16), &[(None, 1)]);
    write(&here.join("small.y4m"), (8, 8), &[(None, 1)]);
    write(&here.join("empty.y4m"), (32, 16), &[]);
    let whole = std::fs::read(here.join("a.y4m")).unwrap();
    std::fs::write(here.join("cut.y4m"), &whole[..whole.len() - 9]).unwrap();
    std::fs::write(here.join("text.y4m"), "nothing\n").unwrap();
    std::fs::write(here.join("text.mkv"), "nothing\n").unwrap();
    let why = std::fs::read("no such file").unwrap_err().to_string();
    for (arguments, message) in [
        (
            "a.y4m short.y4m",
            "a.y4m has 2 frames, short.y4m has 1; cut one of them, or pair the frames by their \
             numbers with --align where both files have such",
        ),
        (
            "a.y4m wide.y4m",
            "a.y4m has pictures of 32x16, wide.y4m of 48x16; compare what has one size, or scale \
             the second to the first with --scale",
        ),
        (
            "small.y4m small.y4m",
            "pictures of 8x8; the smallest that can be compared is 16x16",
        ),
        (
            "a.y4m empty.y4m",
            "empty.y4m has no frame; name a file with pictures",
        ),
        (
            "a.y4m text.y4m",
            "text.y4m: byte 0: the file does not begin with `YUV4MPEG2 `; name a .y4m file",
        ),
        (
            "a.y4m none.mkv",
            &format!("cannot read none.mkv: {why}; name a .y4m file, or one that ffmpeg decodes"),
        ),
        (
            "",
            "nothing to compare; name two files, REF and DIST, or a recording with --recording",
        ),
    ] {
        let said = refusal(&here, &format!("quality {arguments}"));
        assert_eq!(said, format!("error: {message}\n"));
    }
    let said = refusal(&here, "quality a.y4m cut.y4m");
    let place = format!("error: cut.y4m: byte {}: the file ends", whole.len() - 9);
    assert!(said.starts_with(&place), "{said}");
    let said = refusal(&here, "quality a.y4m text.mkv");
    assert!(
        said.starts_with("error: ffmpeg failed at text.mkv: "),
        "{said}"
    );
}

#[test]
fn other_files_and_sizes_go_through_ffmpeg() {
    let here = folder("quality-decode");
    ffmpeg(
        &here,
        "-f lavfi -i testsrc=size=320x240:rate=60 -frames:v 12 -pix_fmt yuv420p a.y4m",
    );
    ffmpeg(&here, "-i a.y4m -c:v libx264 -qp 20 fine.mkv");
    ffmpeg(&here, "-i a.y4m -c:v libx264 -qp 45 coarse.mkv");
    ffmpeg(
        &here,
        "-i a.y4m -vf scale=160:120 -c:v libx264 -qp 20 small.mkv",
    );
    let psnr = |arguments: &str| {
        let text = stdout(&here, &format!("quality {arguments} --json out.json"));
        let mean = "/measured/all frames/summary/psnr_weighted/mean";
        (text, at(&json(&here.join("out.json")), mean))
    };
    let (_, fine) = psnr("a.y4m fine.mkv");
    let (_, coarse) = psnr("a.y4m coarse.mkv");
    assert!((35.0..60.0).contains(&fine), "{fine}");
    assert!(coarse < fine - 8.0, "{coarse} for {fine}");
    let (text, small) = psnr("a.y4m small.mkv --scale");
    assert!(
        text.contains("small.mkv was scaled from 160x120 to 320x240, bicubic"),
        "{text}"
    );
    assert!(small < fine, "{small} for {fine}");
}

/// The repository's root, in whose `.venv` scripts/install.sh puts imageio-ffmpeg.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

#[test]
fn vmaf_tells_the_same_from_the_coarse() {
    let here = folder("quality-vmaf");
    ffmpeg(
        &here,
        "-f lavfi -i testsrc=size=321x241:rate=60 -frames:v 12 -pix_fmt yuv420p a.y4m",
    );
    ffmpeg(&here, "-i a.y4m -vf scale=320:240 b.y4m");
    ffmpeg(&here, "-i b.y4m -c:v libx264 -qp 45 coarse.mkv");
    let vmaf = |reference: &str, other: &str| {
        let files = [reference, other].map(|name| here.join(name).display().to_string());
        let out = here.join("out.json");
        let files = files.join(" ");
        let arguments = format!("quality {files} --metrics vmaf --json {}", out.display());
        let text = stdout(root(), &arguments);
        assert!(text.contains("VMAF of all frames by "), "{text}");
        let out = json(&out);
        assert_eq!(
            out["measured"]["all frames"]["per_frame"]
                .as_array()
                .unwrap()
                .len(),
            12
        );
        at(&out, "/measured/all frames/summary/vmaf/least")
    };
    for same in ["a.y4m", "b.y4m"] {
        let figure = vmaf(same, same);
        assert!(figure >= 97.0, "{figure} of {same}");
    }
    let coarse = vmaf("b.y4m", "coarse.mkv");
    assert!((5.0..80.0).contains(&coarse), "{coarse}");
}

#[test]
fn without_libvmaf_it_is_said_where_to_get_it() {
    let here = folder("quality-no-vmaf");
    write(&here.join("a.y4m"), (32, 16), &[(None, 1)]);
    let said = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args("quality a.y4m a.y4m --metrics vmaf --ffmpeg /none/a".split(' '))
        .current_dir(&here)
        .env("MIMOSA_FFMPEG", "/none/b")
        .env("PATH", &here)
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(2));
    let said = String::from_utf8(said.stderr).unwrap();
    let why = std::fs::read("no such file").unwrap_err().to_string();
    let none = |path: &str| format!("{path} does not run ({why})");
    assert_eq!(
        said,
        format!(
            "error: no ffmpeg with libvmaf, which VMAF takes: {}, {}, {}; get one with \
             `python3 -m venv .venv && .venv/bin/pip install imageio-ffmpeg`, or name one with \
             --ffmpeg\n",
            none("/none/a"),
            none("/none/b"),
            none("ffmpeg")
        )
    );
}
