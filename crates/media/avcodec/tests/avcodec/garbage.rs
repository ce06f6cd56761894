//! Damaged H.264, and bytes that are no H.264 at all.

use mimosa_avcodec::Decoder;
use mimosa_facts::Codec;
use mimosa_video::Recovery;

use crate::stream::{decode, encode, openh264, samples, scene, size, x264};

/// A generator of numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) % below as u64) as usize
    }
}

/// Feeds `data` to the decoder and reads every sample of the picture, if there is one.
/// Returns whether the picture is damaged.
fn feed(decoder: &mut Decoder, data: &[u8]) -> Option<bool> {
    let picture = decoder.decode(data).ok().flatten()?;
    assert!(!samples(&picture.view()).is_empty());
    Some(picture.is_damaged())
}

#[test]
fn random_bytes_give_no_picture() {
    let mut random = Random(1);
    let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
    for _ in 0..500 {
        let mut data: Vec<u8> = (0..random.next(2_000))
            .map(|_| random.next(256) as u8)
            .collect();
        if random.next(2) == 0 {
            // With a start code in front, the bytes are NAL units.
            data.splice(0..0, [0, 0, 0, 1]);
        }
        assert_eq!(feed(&mut decoder, &data), None);
    }
}

#[test]
fn a_stream_that_was_spoiled_goes_on_with_a_keyframe() {
    let pictures = scene(size("320x180"), 12);
    let none = |_| Recovery::None;
    let streams = [
        encode(&mut x264(size("320x180"), 2), &pictures, none),
        encode(&mut openh264(size("320x180")), &pictures, none),
        encode(
            &mut x264(size("160x90"), 1),
            &scene(size("160x90"), 12),
            none,
        ),
    ];
    let streams = streams.map(|frames| frames.into_iter().map(|frame| frame.data).collect());
    for seed in 1..=16 {
        let decoder = Decoder::new(Codec::H264, 2).unwrap();
        let [spoiled, damaged] = spoil(decoder, &streams, seed);
        assert!(damaged > spoiled / 20, "{damaged} of {spoiled}");
        // A decoder of slices shows fewer of them.
        if seed <= 4 {
            spoil(Decoder::of_slices().unwrap(), &streams, seed);
        }
    }
}

/// Changes, cuts and leaves out bytes of `streams`, which are access units that begin with
/// a keyframe. Then a whole keyframe must give a whole picture. Returns how many frames
/// were spoiled and how many were shown with damage.
pub(crate) fn spoil(mut decoder: Decoder, streams: &[Vec<Vec<u8>>], seed: u64) -> [usize; 2] {
    let codec = decoder.codec();
    let mut random = Random(seed);
    let (mut spoiled, mut shown, mut damaged) = (0, 0, 0);
    for round in 0..150 {
        let frames = &streams[random.next(streams.len())];
        for frame in frames {
            let mut data = frame.clone();
            for _ in 0..random.next(6) {
                let at = random.next(data.len());
                data[at] = random.next(256) as u8;
            }
            match random.next(6) {
                0 => data.truncate(random.next(data.len())),
                1 => drop(data.drain(..random.next(data.len()))),
                2 => data.clear(),
                _ => {}
            }
            spoiled += 1;
            if let Some(is_damaged) = feed(&mut decoder, &data) {
                shown += 1;
                damaged += usize::from(is_damaged);
            }
        }
        if round % 10 == 9 {
            let frames = &streams[round / 10 % streams.len()];
            let mut fresh = Decoder::new(codec, 1).unwrap();
            for (number, frame) in frames[..3].iter().enumerate() {
                let what = format!("{codec:?}, frame {number} in round {round} of seed {seed}");
                let [got, expected] = [&mut decoder, &mut fresh].map(|decoder| {
                    let picture = decoder.decode(frame).unwrap();
                    picture.unwrap_or_else(|| panic!("no picture of {what}"))
                });
                assert!(!got.is_damaged(), "{what}");
                let same = samples(&got.view()) == samples(&expected.view());
                assert!(same, "{what}");
            }
        }
    }
    // The test proves something only if many frames were spoiled and some still came
    // through.
    let all = [spoiled, shown, damaged];
    assert!(all.is_sorted_by(|more, less| more > less), "{all:?}");
    [spoiled, damaged]
}

#[test]
fn what_has_no_keyframe_before_it_is_not_shown() {
    let frames = encode(
        &mut x264(size("320x180"), 1),
        &scene(size("320x180"), 5),
        |_| Recovery::None,
    );
    let mut decoder = Decoder::new(Codec::H264, 1).unwrap();
    assert!(decoder.decode(&[]).unwrap().is_none());
    for frame in &frames[1..] {
        assert_eq!(feed(&mut decoder, &frame.data), None);
    }
    decode(&mut decoder, &frames[0]);
}
