//! Decoders, by the commands `ffmpeg` and `ffprobe`.

use std::io::{ErrorKind, Read, Write};
use std::process::{Command, Stdio};

use mimosa_facts::Codec;
use mimosa_video::Size;

/// Decodes a stream that nothing is wrong with into pictures of three planes.
#[must_use]
pub fn decode(codec: Codec, size: Size, stream: Vec<u8>) -> Vec<Vec<u8>> {
    let (pictures, complaints) = try_to_decode(codec, size, stream);
    assert!(complaints.is_empty(), "{complaints}");
    pictures
}

/// Decodes a stream into pictures of three planes, and gives the decoder's complaints.
#[must_use]
pub fn try_to_decode(codec: Codec, size: Size, stream: Vec<u8>) -> (Vec<Vec<u8>>, String) {
    let mut command = Command::new("ffmpeg");
    command
        .args(["-loglevel", "error", "-f", format(codec), "-i", "pipe:0"])
        .args(["-fps_mode", "passthrough", "-f", "rawvideo"])
        .args(["-pix_fmt", "yuv420p", "pipe:1"]);
    let mut pictures = Vec::new();
    let complaints = run(&mut command, stream, |output| {
        let mut picture = vec![0; size.luma_len() + 2 * size.chroma_len()];
        while output.read_exact(&mut picture).is_ok() {
            pictures.push(picture.clone());
        }
    });
    (pictures, complaints)
}

/// What `ffprobe` prints about a stream that nothing is wrong with: lines of `name=value`.
#[must_use]
pub fn probe(codec: Codec, stream: Vec<u8>) -> String {
    let mut command = Command::new("ffprobe");
    command
        .args(["-loglevel", "error", "-f", format(codec)])
        .args(["-show_streams", "pipe:0"]);
    let mut text = String::new();
    let complaints = run(&mut command, stream, |output| {
        output.read_to_string(&mut text).unwrap();
    });
    assert!(complaints.is_empty(), "{complaints}");
    text
}

/// The name that `ffmpeg` has for the format of a codec's byte stream.
const fn format(codec: Codec) -> &'static str {
    match codec {
        Codec::H264 => "h264",
        Codec::H265 => "hevc",
        Codec::Av1 => "obu",
    }
}

/// Gives `stream` to a command, its output to `read`, and returns its complaints.
fn run(command: &mut Command, stream: Vec<u8>, read: impl FnOnce(&mut dyn Read)) -> String {
    let spawned = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            panic!("install ffmpeg (Debian: apt-get install ffmpeg)")
        }
        other => other.unwrap(),
    };
    let mut input = child.stdin.take().unwrap();
    // The command may have read enough before everything is written.
    let feeder = std::thread::spawn(move || drop(input.write_all(&stream)));
    read(&mut child.stdout.take().unwrap());
    feeder.join().unwrap();
    let end = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&end.stderr).into_owned()
}
