//! Session descriptions from arbitrary text, as a host reads offers, as a client reads answers, and as both read
//! candidates: nothing panics, what is refused is refused in short words without control characters, and
//! what is answered is answered with a description.
//!
//! The fuzz target `description` and the tests of this crate give it inputs.

use std::net::SocketAddr;

use mimosa_facts::Codec;
use mimosa_transport::{Addresses, Call, Peer, Start, StreamNumbers, advertise, check_candidate};
use mimosa_units::Time;

const ALL: &[Codec] = &[Codec::Av1, Codec::H265, Codec::H264];
/// Longest message of an error: a few lines of a terminal.
const LONGEST: usize = 1_000;

/// Reads text as a host and a client do. Bytes that are no text are passed over.
pub(crate) fn input(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let start = Start::repeatable(Time::from_secs(1));
    offer(text, start);
    answer(text, start);
    for line in text.lines().take(20) {
        if let Err(error) = check_candidate(line) {
            short(&error.to_string());
        }
    }
}

fn address(last: u8) -> SocketAddr {
    ([10, 0, 0, last], 4_000).into()
}

/// A host answers.
fn offer(text: &str, start: Start) {
    let numbers = StreamNumbers::new(7, 9);
    match Peer::answer(text, ALL, None, &[address(1)], numbers, true, start) {
        Ok((_, answer)) => {
            assert!(answer.starts_with("v=0\r\n") && answer.contains("\r\nm=video "));
            let addresses = Addresses {
                datagrams: vec![address(3)],
                streams: vec![address(4)],
                relayed: vec![address(5)],
            };
            let whole = advertise(&answer, &addresses);
            assert!(whole.len() >= answer.len());
        }
        Err(error) => short(&error.to_string()),
    }
}

/// A client takes the answer to its own offer.
fn answer(text: &str, start: Start) {
    let called = Call::offer(&[address(2)], ALL, true, 9, start);
    let (call, _) = called.unwrap_or_else(|error| panic!("{error}"));
    if let Err(error) = call.accept(text) {
        short(&error.to_string());
    }
}

fn short(message: &str) {
    assert!(
        !message.is_empty() && message.len() <= LONGEST,
        "{} bytes",
        message.len()
    );
    assert!(!message.contains(char::is_control), "{message:?}");
}
