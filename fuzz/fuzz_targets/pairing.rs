//! What a device and a host tell each other before either has proven anything: pairing, the answers of the HTTP side,
//! and what a host says of itself. Nothing panics, what is read is written and read back as the same,
//! and who has another PIN has another key.
//!
//! The first 32 bytes are a share, and all of it is text.
#![no_main]

use std::fmt::Debug;

use libfuzzer_sys::fuzz_target;
use mimosa_protocol::info::Info;
use mimosa_protocol::pairing::{
    Begin, Begun, CHANNEL, Exchange, Finish, Finished, LONGEST_NAME, Paired, is_name,
};
use mimosa_protocol::problem::Problem;
use mimosa_protocol::proof::{hex, unhex};
use serde::Serialize;
use serde::de::DeserializeOwned;

fuzz_target!(|data: &[u8]| {
    if let Some(share) = data.first_chunk::<32>() {
        exchange(share, data);
    }
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    same::<Begin>(text);
    same::<Begun>(text);
    same::<Finish>(text);
    same::<Finished>(text);
    same::<Info>(text);
    same::<Problem>(text);
    if is_name(text) {
        assert!(text.len() <= LONGEST_NAME && !text.contains(char::is_control));
    }
    if let Some(bytes) = unhex::<32>(text) {
        assert_eq!(hex(&bytes), text.to_ascii_lowercase());
    }
});

fn same<T: Debug + DeserializeOwned + PartialEq + Serialize>(text: &str) {
    let Ok(read) = serde_json::from_str::<T>(text) else {
        return;
    };
    let written = serde_json::to_string(&read).unwrap_or_else(|error| panic!("{error}"));
    let again = serde_json::from_str::<T>(&written);
    assert_eq!(again.unwrap_or_else(|error| panic!("{error}")), read);
}

/// A device with an arbitrary share, and one that guesses the PIN.
fn exchange(share: &[u8; 32], data: &[u8]) {
    let session = [data.len() as u8; 16];
    let begin = |pin: &[u8], random| Exchange::begin(pin, CHANNEL, session, random);
    let host = begin(b"123456", [3; 32]);
    if let Ok(key) = host.responded(share, data, b"") {
        // Whoever sent the share knows no secret that leads to this key.
        assert_ne!(key, [0; 64]);
    }
    let random = *share;
    for (pin, is_right) in [(&b"123456"[..], true), (&data[..data.len().min(6)], false)] {
        let device = begin(pin, random);
        let (Ok(theirs), Ok(ours)) = (
            device.initiated(data, &host.share(), b""),
            host.responded(&device.share(), data, b""),
        ) else {
            // A secret of zero makes no point.
            assert!(random[..31].iter().all(|byte| *byte == 0) || !is_right);
            continue;
        };
        assert_eq!(theirs == ours, is_right || pin == b"123456");
        assert_eq!(
            Paired::new(&theirs).by_device() == Paired::new(&ours).by_device(),
            theirs == ours
        );
    }
}
