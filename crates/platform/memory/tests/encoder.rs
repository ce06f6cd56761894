//! What an encoder takes of memory, and that one which is closed leaves it to the system. This test is a program of its
//! own, since the memory that the system tells is that of a whole process.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_conformance::{Clip, amount, plain_request};
use mimosa_memory::return_large_blocks;
use mimosa_video::{Encoder, Picture, Size};
use mimosa_x264::{Config, X264};

/// Pictures after which an encoder has all the references that it keeps.
const PICTURES: u64 = 12;
/// Bytes of the block that each run allocates besides, while its encoder is open: somewhat less than the 1 MiB from which
/// on a block goes back to the system once it is freed.
const OTHER: usize = 900_000;

/// Memory of this process at present, in megabytes; zero where the system does not tell.
fn megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    kilobytes.map_or(0.0, |kilobytes| kilobytes.parse::<f64>().unwrap() / 1e3)
}

/// Encodes pictures, allocates something else, and closes the encoder. Gives the megabytes that the encoder took, and
/// what else was allocated.
fn encoded(picture: &Picture, references: u8) -> (f64, Vec<u8>) {
    let before = megabytes();
    let config = Config {
        references,
        ..Config::new(picture.size(), 60)
    };
    let mut encoder = X264::open(config).unwrap();
    for number in 0..PICTURES {
        let request = plain_request(number, amount(10.0));
        encoder.encode(picture, &request).unwrap();
    }
    (megabytes() - before, vec![1; OTHER])
}

#[test]
fn what_an_encoder_took_it_gives_back() {
    return_large_blocks();
    let picture = Clip::new(Size::new(1280, 720).unwrap(), 8).picture(0);
    let before = megabytes();
    // From the first block on that is freed, glibc takes those of its size from where small ones are, unless it is
    // told otherwise; and there whatever is allocated later keeps what is below it.
    let (four, first) = encoded(&picture, 4);
    let (eight, second) = encoded(&picture, 8);
    let (again, third) = encoded(&picture, 4);
    let left = megabytes() - before;
    println!(
        "{four:.1} MB with 4 references, {eight:.1} with 8, {again:.1} with 4 again; {left:.1} left"
    );
    drop((first, second, third));
    // Systems other than Linux do not tell; there the run alone is the test.
    if before > 0.0 {
        assert!(left < 8.0, "{left} MB are left");
        let each = (eight - four) / 4.0;
        assert!((3.0..8.0).contains(&each), "{each} MB for a reference");
    }
}
