//! H.265 and AV1, encoded by ffmpeg: each frame, whole or put together from its RTP
//! payloads, gives its picture at once.

use std::io::Write;
use std::process::{Command, Stdio};

use mimosa_avcodec::{Decoder, decodable};
use mimosa_facts::Codec;
use mimosa_rtp::video::{Packetiser, depacketise};
use mimosa_rtp::{av1, h265};
use mimosa_units::Bytes;

use crate::garbage::spoil;
use crate::stream::{samples, size};

const COUNT: usize = 24;
const SIZE: &str = "320x180";
/// The bytes of a picture of 320x180.
const PICTURE: usize = 320 * 180 * 3 / 2;

/// Runs ffmpeg with these arguments and this input, and returns its output.
fn ffmpeg(arguments: &str, input: Vec<u8>) -> Vec<u8> {
    let mut child = Command::new("ffmpeg")
        .args(["-hide_banner", "-loglevel", "error"])
        .args(arguments.split(' '))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // ffmpeg closes its input early when it does not need all of it.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    assert!(output.status.success(), "ffmpeg {arguments}");
    output.stdout
}

/// Encodes ffmpeg's moving test picture with this codec, with keyframes at frames 1 and 13.
fn frames(codec: Codec) -> (Vec<Vec<u8>>, Vec<u8>) {
    let source = format!(
        "-f lavfi -i testsrc2=size={SIZE}:rate=60 -frames:v {COUNT} -pix_fmt yuv420p -b:v 2M"
    );
    let (encoder, form) = match codec {
        Codec::H264 => unreachable!("it has encoders of our own"),
        Codec::H265 => (
            "-c:v libx265 -preset ultrafast -tune zerolatency \
             -x265-params log-level=none:aud=1:keyint=12:min-keyint=12:scenecut=0:slices=2",
            "hevc",
        ),
        Codec::Av1 => (
            "-c:v libaom-av1 -usage realtime -cpu-used 8 -lag-in-frames 0 -g 12 -tiles 2x1",
            "ivf",
        ),
    };
    let stream = ffmpeg(&format!("{source} {encoder} -f {form}"), Vec::new());
    let raw = format!("-f {form} -i - -f rawvideo -pix_fmt yuv420p");
    let pictures = ffmpeg(&raw, stream.clone());
    assert_eq!(pictures.len(), COUNT * PICTURE);
    let frames = if codec == Codec::Av1 {
        in_ivf(&stream)
    } else {
        between_delimiters(&stream)
    };
    assert_eq!(frames.len(), COUNT);
    (frames, pictures)
}

/// Splits an IVF file into frames: a header of 32 bytes, then for each frame four bytes of
/// size, eight more bytes, and the frame.
fn in_ivf(file: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &file[32..];
    let mut frames = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let (frame, next) = behind[8..].split_at(u32::from_le_bytes(*length) as usize);
        frames.push(frame.to_vec());
        rest = next;
    }
    frames
}

/// Splits a stream into access units, each of which begins with a delimiter of type 35.
fn between_delimiters(stream: &[u8]) -> Vec<Vec<u8>> {
    let mut frames: Vec<Vec<u8>> = Vec::new();
    for unit in h265::units(stream) {
        if unit[0] >> 1 == 35 {
            frames.push(Vec::new());
        }
        let frame = frames.last_mut().unwrap();
        frame.extend([&[0, 0, 0, 1], unit].concat());
    }
    frames
}

/// Splits a frame into RTP payloads and puts it together again.
fn through_rtp(codec: Codec, frame: &[u8]) -> Vec<u8> {
    let payloads = Packetiser::new(codec, Bytes::new(600)).packetise(frame);
    assert!(payloads.sizes().all(|size| size <= Bytes::new(600)));
    depacketise(codec, payloads.iter()).unwrap()
}

#[test]
fn every_codec_is_there() {
    assert_eq!(decodable(), [Codec::H264, Codec::H265, Codec::Av1]);
}

#[test]
fn each_frame_gives_its_picture_at_once() {
    for codec in [Codec::H265, Codec::Av1] {
        let (frames, expected) = frames(codec);
        for threads in [1, 2] {
            let mut decoder = Decoder::new(codec, threads).unwrap();
            assert_eq!(decoder.codec(), codec);
            for (number, frame) in frames.iter().enumerate() {
                let at = format!("{codec:?}, {threads} threads, frame {number}");
                let back = through_rtp(codec, frame);
                let picture = decoder.decode(&back).unwrap();
                let picture = picture.unwrap_or_else(|| panic!("no picture of {at}"));
                assert!(!picture.is_damaged(), "{at}");
                assert_eq!(picture.size(), size(SIZE));
                let expected = &expected[number * PICTURE..][..PICTURE];
                assert!(samples(&picture.view()) == expected, "{at}");
            }
        }
    }
}

/// RTP payloads leave out only units that a decoder does not need.
#[test]
fn rtp_leaves_out_what_means_nothing() {
    let (frames, _) = frames(Codec::Av1);
    for frame in &frames {
        let sent = av1::obus(frame).filter(av1::Obu::is_sent).count();
        // A delimiter precedes each frame.
        assert_eq!(sent + 1, av1::obus(frame).count());
        assert_eq!(&through_rtp(Codec::Av1, frame), frame);
    }
    let (frames, _) = self::frames(Codec::H265);
    for frame in &frames {
        let kinds =
            |stream: &[u8]| -> Vec<u8> { h265::units(stream).map(|unit| unit[0] >> 1).collect() };
        let mut needed = kinds(frame);
        needed.retain(|kind| !matches!(kind, 35 | 39));
        assert_eq!(kinds(&through_rtp(Codec::H265, frame)), needed);
    }
}

/// Damaged frames before a keyframe give an error at most, and no picture. The keyframe and
/// everything after it decode without damage.
#[test]
fn a_spoiled_stream_goes_on_with_a_keyframe() {
    for codec in [Codec::H265, Codec::Av1] {
        let (frames, expected) = frames(codec);
        let mut decoder = Decoder::new(codec, 1).unwrap();
        for frame in &frames[1..12] {
            assert!(!matches!(decoder.decode(frame), Ok(Some(_))), "{codec:?}");
        }
        for (number, frame) in frames.iter().enumerate().take(12) {
            let mut spoiled = frame.clone();
            let middle = spoiled.len() / 2;
            match number % 3 {
                0 => spoiled.truncate(middle),
                1 => spoiled[middle..].fill(0x5a),
                _ => drop(spoiled.drain(middle / 2..middle)),
            }
            // Any result is allowed here.
            let _ = decoder.decode(&spoiled);
        }
        for (number, frame) in frames.iter().enumerate().skip(12) {
            let picture = decoder.decode(frame).unwrap().unwrap();
            assert!(!picture.is_damaged(), "{codec:?}, frame {number}");
            let expected = &expected[number * PICTURE..][..PICTURE];
            assert!(
                samples(&picture.view()) == expected,
                "{codec:?}, frame {number}"
            );
        }
    }
}

#[test]
fn whatever_was_wrong_a_keyframe_is_whole() {
    for codec in [Codec::H265, Codec::Av1] {
        let (mut frames, _) = frames(codec);
        let later = frames.split_off(12);
        for seed in 1..=4 {
            let decoder = Decoder::new(codec, 2).unwrap();
            spoil(decoder, &[frames.clone(), later.clone()], seed);
        }
    }
}
