//! Streams with many frames lost or many attempts rejected, decoded by `ffmpeg`.

use mimosa_conformance::{
    BUDGET, Clip, FRAMES, Stream, Subject, a_loss_is_recovered_from, decode, plain_request,
    stream_size, what_arrives_after_a_loss_is_what_was_coded,
};
use mimosa_facts::{Codec, EntropyCoding, FrameId};
use mimosa_units::Bytes;
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size,
};
use mimosa_x264::{Aim, Config, Margin, X264};

use crate::conformance::subject;

/// Encodes a stream in which `recovery` gives the request of each frame.
fn encode(config: Config, recovery: impl Fn(u64) -> Recovery) -> Stream {
    Stream::encode(&mut X264::open(config).unwrap(), recovery)
}

/// An encoder that asserts that every frame fits at the first attempt.
struct AtOnce(X264);

impl Encoder for AtOnce {
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        let frame = self.0.encode(picture, request)?;
        assert_eq!(frame.attempts, 1, "{:?}", frame.frame);
        Ok(frame)
    }
}

#[test]
fn after_a_loss_the_stream_goes_on_without_a_keyframe() {
    for (threads, entropy) in [
        (1, EntropyCoding::Arithmetic),
        (1, EntropyCoding::VariableLength),
        (2, EntropyCoding::Arithmetic),
    ] {
        // With several threads each looks at how far the others are, so that sizes differ
        // from run to run, and an attempt rejected among the lost frames takes the last
        // place of the four. When half the budget is asked for, none is rejected.
        let margin = Margin {
            rejected: 0.02,
            least: 0.5,
            most: 0.5,
        };
        println!("{threads} threads, {}", entropy.name());
        let subject = Subject {
            open: Box::new(move |setup| {
                let encoder = X264::open(Config {
                    threads,
                    entropy,
                    aim: Aim::Learnt(margin),
                    ..Config::new(setup.size, setup.frames_per_second)
                });
                Ok(Box::new(AtOnce(encoder.unwrap())))
            }),
            ..subject()
        };
        what_arrives_after_a_loss_is_what_was_coded(&subject);
        // How coarsely a thread codes depends on how far the others are, and so on what else the
        // machine does: two streams of several threads differ by more than this check allows.
        if threads == 1 {
            a_loss_is_recovered_from(&subject);
        }
    }
}

/// What the two have in common is in the tests above.
#[test]
fn cavlc_is_what_it_says_and_somewhat_worse() {
    let quality = |entropy| {
        let config = Config {
            entropy,
            aim: Aim::Buffer,
            ..Config::new(stream_size(), 60)
        };
        let mut encoder = X264::open(config).unwrap();
        assert_eq!(encoder.entropy_coding(), Some(entropy));
        let frames = Stream::encode(&mut encoder, |_| Recovery::None);
        let first = &frames.frames()[0].data;
        // Of a picture parameter set, the third bit is `entropy_coding_mode_flag` (ITU-T H.264, section 7.3.2.2), after
        // the numbers of both parameter sets, which are zero.
        let set = first.windows(4).position(|four| four == [0, 0, 1, 0x68]);
        let is_arithmetic = first[set.unwrap() + 4] & 0x20 != 0;
        assert_eq!(is_arithmetic, entropy == EntropyCoding::Arithmetic);
        let all = frames.qualities(|_| true);
        all.iter().map(|(_, quality)| quality).sum::<f64>() / all.len() as f64
    };
    let arithmetic = quality(EntropyCoding::Arithmetic);
    let variable = quality(EntropyCoding::VariableLength);
    println!("{arithmetic:.2} dB, {variable:.2} dB");
    assert!((0.1..1.2).contains(&(arithmetic - variable)));
}

#[test]
fn a_loss_beyond_the_references_makes_a_keyframe() {
    let frames = encode(Config::new(stream_size(), 60), |number| match number {
        // All four that are kept are lost: 50 to 53.
        54 => Recovery::Without(Stream::id(50)),
        // The keyframe just made is lost itself.
        56 => Recovery::Without(Stream::id(54)),
        // Two are lost, two remain.
        60 => Recovery::Without(Stream::id(58)),
        // Nothing is lost: frame 69 was number 207.
        70 => Recovery::Without(FrameId(208)),
        _ => Recovery::None,
    });
    assert_eq!(frames.keyframes(), [0, 54, 56]);
    // The decoder complains about nothing, and shows every frame that arrives.
    let _ = frames.qualities(|number| !(50..56).contains(&number) && !(58..60).contains(&number));
}

#[test]
fn rejected_attempts_leave_no_trace_in_the_picture() {
    // Asking for far too much has nearly every frame rejected.
    let config = Config {
        aim: Aim::Learnt(Margin {
            rejected: 0.02,
            least: 1.25,
            most: 1.25,
        }),
        ..Config::new(stream_size(), 60)
    };
    let plain = encode(Config::new(stream_size(), 60), |_| Recovery::None);
    let rejecting = encode(config, |number| match number {
        40 => Recovery::Keyframe,
        _ => Recovery::None,
    });
    let attempts: u32 = rejecting.frames().iter().map(|frame| frame.attempts).sum();
    assert!(attempts > 125, "{attempts} attempts at {FRAMES} frames");
    assert_eq!(rejecting.keyframes(), [0, 40]);
    for frame in rejecting.frames() {
        let size = Bytes::new(frame.data.len() as u64);
        assert!(size <= BUDGET, "{size} at {:?}", frame.frame);
    }
    let plain = plain.qualities(|_| true);
    for (number, quality) in rejecting.qualities(|_| true) {
        let other = plain[usize::try_from(number).unwrap()].1;
        assert!(
            quality > other - 1.5,
            "{quality} dB for {other} dB at frame {number}"
        );
    }
}

/// Frame numbers have twelve bits. Frame 4096 is number zero again.
#[test]
fn the_stream_goes_on_when_the_frame_numbers_begin_anew() {
    let tiny = Size::new(64, 64).unwrap();
    let mut clip = Clip::new(tiny, 0);
    let pictures: Vec<Picture> = (0..8).map(|time| clip.picture(time)).collect();
    for (recovery, expected) in [(None, vec![0]), (Some(4095), vec![0, 4098])] {
        let mut encoder = X264::open(Config::new(tiny, 60)).unwrap();
        let mut pictures = pictures.iter().cycle();
        let mut stream = Vec::new();
        let mut keyframes = Vec::new();
        let mut sent = 0;
        for number in 0..4110 {
            let request = FrameRequest {
                recovery: match recovery {
                    Some(lost) if number == 4098 => Recovery::Without(FrameId(lost)),
                    _ => Recovery::None,
                },
                ..plain_request(number, Bytes::new(1_000))
            };
            let picture = pictures.next().unwrap();
            let frame = encoder.encode(picture, &request).unwrap();
            if frame.is_keyframe {
                keyframes.push(number);
            }
            if recovery.is_none_or(|lost| !(lost..4098).contains(&number)) {
                stream.extend(frame.data);
                sent += 1;
            }
        }
        assert_eq!(keyframes, expected);
        assert_eq!(decode(Codec::H264, tiny, stream).len(), sent);
    }
}
