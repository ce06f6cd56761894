//! Frames in parts, each of which is handed out as soon as it is coded.

use mimosa_conformance::{
    BUDGET, Clip, Stream, Subject, a_loss_is_recovered_from, plain_request, stream_size,
    what_arrives_after_a_loss_is_what_was_coded,
};
use mimosa_video::{
    Capabilities, EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery,
};
use mimosa_x264::{Aim, Config, X264};

use crate::conformance::subject;

/// The most parts that the tests ask for.
const PARTS: u8 = 8;

/// An encoder that codes each frame in parts, and looks at them.
struct InParts {
    encoder: X264,
    /// Number of parts of each frame.
    counts: Vec<usize>,
}

impl InParts {
    fn open(config: Config) -> Self {
        Self {
            encoder: X264::open(config).unwrap(),
            counts: Vec::new(),
        }
    }
}

impl Encoder for InParts {
    fn capabilities(&self) -> &Capabilities {
        self.encoder.capabilities()
    }

    fn encode(
        &mut self,
        picture: &Picture,
        request: &FrameRequest,
    ) -> Result<EncodedFrame, EncodeError> {
        let (mut joined, mut count, mut is_over, mut says) = (Vec::new(), 0, false, Vec::new());
        let frame = self
            .encoder
            .encode_in_parts(picture, request, PARTS, &mut |part| {
                assert!(part.data.starts_with(&[0, 0, 0, 1]) || part.data.starts_with(&[0, 0, 1]));
                assert!(!is_over, "a part after the last");
                joined.extend_from_slice(part.data);
                count += 1;
                is_over = part.is_last;
                says.push(part.is_keyframe);
            })?;
        assert!(is_over, "no part is the last of frame {:?}", frame.frame);
        assert_eq!(joined, frame.data);
        assert!(says.iter().all(|says| *says == frame.is_keyframe));
        assert_eq!(frame.attempts, 1);
        self.counts.push(count);
        Ok(frame)
    }
}

fn config(threads: u8) -> Config {
    Config {
        aim: Aim::Buffer,
        threads,
        ..Config::new(stream_size(), 60)
    }
}

#[test]
fn parts_make_up_a_frame_within_its_budget_that_decodes() {
    let mut encoder = InParts::open(config(1));
    let stream = Stream::encode(&mut encoder, |_| Recovery::None);
    assert!(
        encoder
            .counts
            .iter()
            .all(|count| *count == usize::from(PARTS))
    );
    let sizes: Vec<_> = stream
        .frames()
        .iter()
        .map(|frame| frame.data.len() as f64)
        .collect();
    let over = sizes.iter().filter(|size| **size > BUDGET.get() as f64);
    let over = over.count() as f64 / sizes.len() as f64;
    let used = sizes.iter().sum::<f64>() / sizes.len() as f64 / BUDGET.get() as f64;
    println!("{over:.3} of the frames are above their budgets, {used:.3} of which they use");
    // Nothing is encoded again.
    assert!(over <= 0.01 && used >= 0.75, "{over} {used}");
    let decoded = stream.qualities(|_| true);
    let whole = {
        let mut encoder = X264::open(config(1)).unwrap();
        Stream::encode(&mut encoder, |_| Recovery::None).qualities(|_| true)
    };
    let mean =
        |all: &[(u64, f64)]| all.iter().map(|(_, psnr)| psnr).sum::<f64>() / all.len() as f64;
    let cost = mean(&whole) - mean(&decoded);
    println!("eight parts cost {cost:.2} dB");
    assert_eq!(decoded.len(), stream.frames().len());
    assert!(cost < 0.3, "{cost} dB");
}

#[test]
fn a_loss_is_made_up_for_as_with_whole_frames() {
    let subject = Subject {
        open: Box::new(|setup| {
            Ok(Box::new(InParts::open(Config {
                aim: Aim::Buffer,
                ..Config::new(setup.size, setup.frames_per_second)
            })))
        }),
        ..subject()
    };
    what_arrives_after_a_loss_is_what_was_coded(&subject);
    a_loss_is_recovered_from(&subject);
}

#[test]
fn several_threads_give_one_part() {
    let mut encoder = X264::open(config(2)).unwrap();
    let mut clip = Clip::new(stream_size(), 4);
    for time in 0..3 {
        let mut parts = Vec::new();
        let (picture, request) = (clip.picture(time), plain_request(time, BUDGET));
        let frame = encoder.encode_in_parts(&picture, &request, PARTS, &mut |part| {
            assert!(part.is_last && part.is_keyframe == (time == 0));
            parts.push(part.data.to_vec());
        });
        assert_eq!(parts, [frame.unwrap().data]);
    }
}
