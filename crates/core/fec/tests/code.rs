//! The code: any `k` of `n` packets suffice, and what is not a block is refused.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_fec::{CodeError, MOST_PACKETS, decode, encode};
use proptest::prelude::*;
use proptest::sample::subsequence;

/// Packets of unequal length, their number of repair packets, and which of all packets arrive.
fn blocks() -> impl Strategy<Value = (Vec<Vec<u8>>, usize, Vec<usize>)> {
    let packet = prop::collection::vec(any::<u8>(), 0..40);
    (prop::collection::vec(packet, 1..30), 0_usize..12).prop_flat_map(|(media, repairs)| {
        let count = media.len();
        let places: Vec<usize> = (0..count + repairs).collect();
        let there = subsequence(places, count).prop_shuffle();
        (Just(media), Just(repairs), there)
    })
}

fn slices(packets: &[Vec<u8>]) -> Vec<&[u8]> {
    packets.iter().map(Vec::as_slice).collect()
}

proptest! {
    #[test]
    fn any_k_packets_give_the_media_packets_back((media, repairs, there) in blocks()) {
        let coded = encode(&slices(&media), repairs).unwrap();
        let all: Vec<&[u8]> = media.iter().chain(&coded).map(Vec::as_slice).collect();
        let available: Vec<_> = there.iter().map(|&place| (place, all[place])).collect();
        prop_assert_eq!(decode(media.len(), &available).unwrap(), media.clone());

        let fewer = &available[..available.len() - 1];
        let is_whole = (0..media.len()).all(|i| fewer.iter().any(|(place, _)| *place == i));
        prop_assert!(!is_whole);
        let error = CodeError::TooFew { needed: media.len(), available: fewer.len() };
        prop_assert_eq!(decode(media.len(), fewer), Err(error));
    }

    /// Whatever the input, the result is packets or an error.
    #[test]
    fn anything_is_decoded_or_refused(
        count in 0_usize..300,
        packets in prop::collection::vec(
            (0_usize..300, prop::collection::vec(any::<u8>(), 0..8)), 0..40),
    ) {
        let available: Vec<_> = packets.iter().map(|(i, packet)| (*i, packet.as_slice())).collect();
        if let Ok(media) = decode(count, &available) {
            prop_assert_eq!(media.len(), count);
        }
    }
}

/// The largest blocks, with as many losses as can be recovered.
#[test]
fn the_largest_blocks_are_made_good() {
    for count in [1, 2, 100, 128, 254] {
        let repairs = MOST_PACKETS - count;
        let media: Vec<Vec<u8>> = (0..count)
            .map(|i| vec![u8::try_from(i).unwrap(); 1 + i % 7])
            .collect();
        let coded = encode(&slices(&media), repairs).unwrap();
        let repaired = repairs.min(count);
        let kept = (repaired..count).map(|i| (i, media[i].as_slice()));
        let last = (repairs - repaired..repairs).map(|i| (count + i, coded[i].as_slice()));
        let available: Vec<_> = kept.chain(last).collect();
        assert_eq!(decode(count, &available).unwrap(), media, "{count}");
    }
}

#[test]
fn what_is_no_block_is_refused_with_the_reason() {
    let packet: &[u8] = &[1, 2, 3];
    assert_eq!(encode(&[], 1), Err(CodeError::NoPackets));
    assert_eq!(decode(0, &[]), Err(CodeError::NoPackets));
    let too_many = CodeError::TooManyPackets {
        media: 200,
        repairs: 56,
    };
    assert_eq!(encode(&[packet; 200], 56), Err(too_many));
    assert!(encode(&[packet; 200], 55).is_ok());
    let long = vec![0; 65_536];
    let too_long = CodeError::PacketTooLong {
        index: 1,
        length: 65_536,
    };
    assert_eq!(encode(&[packet, &long], 1), Err(too_long));
    assert!(encode(&[packet, &long[1..]], 1).is_ok());

    let twice = [(0, packet), (0, packet)];
    assert_eq!(decode(2, &twice), Err(CodeError::BadIndex { index: 0 }));
    let twice = [(5, packet), (5, packet)];
    assert_eq!(decode(2, &twice), Err(CodeError::BadIndex { index: 5 }));
    let beyond = [(255, packet), (0, packet)];
    assert_eq!(decode(2, &beyond), Err(CodeError::BadIndex { index: 255 }));
    let short = [(1, &packet[..1])];
    let bad = CodeError::BadLength {
        index: 1,
        length: 1,
    };
    assert_eq!(decode(1, &short), Err(bad));
    let shorter_than_media = [(0, packet), (2, packet)];
    let bad = CodeError::BadLength {
        index: 2,
        length: 3,
    };
    assert_eq!(decode(2, &shorter_than_media), Err(bad));
    // The packet of one byte says that its length is 0x0102.
    let of_another = [(1, packet)];
    assert_eq!(
        decode(1, &of_another),
        Err(CodeError::Inconsistent { index: 0 })
    );
    // The packet says that its length is one, and a byte after it is not padding.
    let of_another: [(usize, &[u8]); 1] = [(1, &[0, 1, 7, 7])];
    assert_eq!(
        decode(1, &of_another),
        Err(CodeError::Inconsistent { index: 0 })
    );
}
