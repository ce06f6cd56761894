//! The erasure code: arbitrary packets are decoded or refused, and of a block that was
//! encoded any packets that are enough give it back.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mimosa_fec::{CodeError, MOST_PACKETS, decode, encode};

#[derive(Arbitrary, Debug)]
enum Input {
    /// Whatever comes from outside.
    Any {
        count: u16,
        packets: Vec<(u16, Vec<u8>)>,
    },
    /// A block, and which of its packets are lost: one for which a bit is set.
    Block {
        media: Vec<Vec<u8>>,
        repairs: u8,
        lost: Vec<u8>,
    },
}

fuzz_target!(|input: Input| match input {
    Input::Any { count, packets } => any(usize::from(count), &packets),
    Input::Block {
        media,
        repairs,
        lost,
    } => block(&media, usize::from(repairs), &lost),
});

fn any(count: usize, packets: &[(u16, Vec<u8>)]) {
    let available: Vec<_> = packets
        .iter()
        .map(|(index, packet)| (usize::from(*index), packet.as_slice()))
        .collect();
    if let Ok(media) = decode(count, &available) {
        assert_eq!(media.len(), count);
        for (index, packet) in available.iter().filter(|(index, _)| *index < count) {
            assert_eq!(media[*index], *packet);
        }
    }
}

fn block(media: &[Vec<u8>], repairs: usize, lost: &[u8]) {
    let slices: Vec<&[u8]> = media.iter().map(Vec::as_slice).collect();
    let coded = match encode(&slices, repairs) {
        Ok(coded) => coded,
        Err(error) => {
            let is_none = media.is_empty() || media.len() + repairs > MOST_PACKETS;
            assert!(is_none, "{error}");
            return;
        }
    };
    let is_lost = |index: usize| {
        let bits = lost.get(index / 8).copied().unwrap_or(0);
        bits >> (index % 8) & 1 == 1
    };
    let available: Vec<_> = media
        .iter()
        .chain(&coded)
        .map(Vec::as_slice)
        .enumerate()
        .filter(|(index, _)| !is_lost(*index))
        .collect();
    let decoded = decode(media.len(), &available);
    if available.len() < media.len() {
        let (needed, available) = (media.len(), available.len());
        assert_eq!(decoded, Err(CodeError::TooFew { needed, available }));
    } else {
        assert_eq!(decoded.as_deref(), Ok(media));
    }
}
