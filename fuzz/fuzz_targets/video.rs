//! Payloads of video from the network, and frames from encoders, from arbitrary bytes:
//! nothing panics, and what is put together is packetised and put together as the same.
//!
//! Every packetiser sees the whole input as a frame. Every depacketiser sees it as a list
//! of payloads: a byte says how long the next one is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_facts::Codec;
use mimosa_rtp::video::{Packetiser, depacketise};
use mimosa_rtp::{av1, h264, h265};
use mimosa_units::Bytes;

/// What datagrams hold.
const LARGEST: u64 = 1140;

fuzz_target!(|data: &[u8]| {
    let list = list(data);
    for codec in Codec::ALL {
        if let Ok(frame) = depacketise(codec, list.iter().copied()) {
            packetise(codec, &frame, LARGEST);
        }
        packetise(codec, data, LARGEST);
        if let Some((&largest, frame)) = data.split_first() {
            packetise(codec, frame, u64::from(largest));
        }
    }
});

fn list(mut data: &[u8]) -> Vec<&[u8]> {
    let mut list = Vec::new();
    while let Some((&length, rest)) = data.split_first() {
        let (payload, rest) = rest.split_at(usize::from(length).min(rest.len()));
        list.push(payload);
        data = rest;
    }
    list
}

fn packetise(codec: Codec, frame: &[u8], largest: u64) {
    let payloads = Packetiser::new(codec, Bytes::new(largest)).packetise(frame);
    let smallest = match codec {
        Codec::Av1 => 2,
        Codec::H264 => 3,
        Codec::H265 => 4,
    };
    let largest = Bytes::new(largest.max(smallest));
    assert!(payloads.sizes().all(|size| size <= largest));
    let again = match depacketise(codec, payloads.iter()) {
        Ok(again) => again,
        Err(error) => panic!("{error}"),
    };
    let is_same = match codec {
        Codec::H264 => {
            let is_sent = |unit: &&[u8]| matches!(unit[0] & 31, 1..=5 | 7 | 8 | 10 | 11 | 13..=23);
            h264::units(&again).eq(h264::units(frame).filter(is_sent))
        }
        Codec::H265 => {
            let is_sent = |unit: &&[u8]| {
                unit.len() > 1 && matches!(unit[0] >> 1 & 63, 0..=34 | 36 | 37 | 41..=47)
            };
            h265::units(&again).eq(h265::units(frame).filter(is_sent))
        }
        Codec::Av1 => {
            // A delimiter stands before them.
            let sent = av1::obus(frame).filter(av1::Obu::is_sent);
            av1::obus(&again).skip(1).eq(sent)
        }
    };
    assert!(is_same, "{codec:?}");
}
