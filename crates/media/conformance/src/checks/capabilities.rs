//! Checks of what the encoder states, about itself and in its stream.

use mimosa_facts::{Codec, Complexity};
use mimosa_video::{FrameRequest, Recovery, Size};

use crate::clip::Clip;
use crate::ffmpeg::probe;
use crate::request::{amount, plain_request};
use crate::stream::Stream;
use crate::subject::{Setup, Subject};

/// The lines of `ffprobe` about ITU-R BT.709 in limited range.
const COLOURS: [&str; 4] = [
    "color_range=tv",
    "color_space=bt709",
    "color_transfer=bt709",
    "color_primaries=bt709",
];

/// Checks that a stream states its codec, its colours and what the subject adds.
pub fn the_stream_states_what_it_is(subject: &Subject) {
    let mut encoder = subject.opened(&Setup::new(crate::stream_size()));
    let capabilities = encoder.capabilities();
    assert_eq!(capabilities.codec, subject.codec, "{}", subject.name);
    assert!(!capabilities.name.is_empty(), "{}", subject.name);
    let stream = Stream::encode(encoder.as_mut(), |_| Recovery::None);
    let printed = probe(subject.codec, stream.frames()[0].data.clone());
    let codec = match subject.codec {
        Codec::H264 => "codec_name=h264",
        Codec::H265 => "codec_name=hevc",
        Codec::Av1 => "codec_name=av1",
    };
    let colours: &[&str] = if subject.states_colours {
        &COLOURS
    } else {
        &[]
    };
    let common = [codec, "pix_fmt=yuv420p"];
    for line in common.iter().chain(colours).chain(subject.states) {
        assert!(
            printed.lines().any(|printed| printed == *line),
            "{}: no {line} in:\n{printed}",
            subject.name
        );
    }
}

/// Checks that [`FrameRequest::complexity`] has an effect if the capabilities say so: a
/// lower quantiser within the same bytes, also when it changes with every frame. Otherwise
/// the stream must be the same to the byte.
pub fn complexity_has_the_stated_effect(subject: &Subject) {
    const LEVELS: [Complexity; 4] = [
        Complexity::C0,
        Complexity::C0Plus,
        Complexity::C1,
        Complexity::C2,
    ];
    let encode = |level: &dyn Fn(u64) -> Complexity| {
        let size = Size::new(640, 360).unwrap();
        let mut clip = Clip::new(size, 0);
        let mut encoder = subject.opened(&Setup::new(size));
        let mut sum = 0.0;
        let mut data = Vec::new();
        for number in 0..80 {
            let request = FrameRequest {
                complexity: level(number),
                ..plain_request(number, amount(2.0))
            };
            let frame = encoder.encode(&clip.picture(number), &request).unwrap();
            let name = subject.name;
            assert_eq!(frame.is_keyframe, number == 0, "{name} at frame {number}");
            sum += frame.quantiser.unwrap_or(0.0);
            data.push(frame.data);
        }
        (sum / 80.0, data)
    };
    let alternating = |number: u64| LEVELS[usize::try_from(number % 4).unwrap()];
    let switches = {
        let setup = Setup::new(subject.small.size);
        subject.opened(&setup).capabilities().switches_complexity
    };
    if switches {
        let held = LEVELS.map(|level| encode(&|_| level).0);
        let (mixed, _) = encode(&alternating);
        println!("{}: mean quantiser {held:?}, mixed {mixed}", subject.name);
        assert!(held[2] < held[0] - 0.5, "{}: {held:?}", subject.name);
        assert!(
            mixed < held[0] && mixed > held[2] - 0.5,
            "{}: {mixed} of {held:?}",
            subject.name
        );
    } else {
        let (_, held) = encode(&|_| Complexity::C0);
        let (_, mixed) = encode(&alternating);
        assert!(held == mixed, "{}: complexity has an effect", subject.name);
    }
}
