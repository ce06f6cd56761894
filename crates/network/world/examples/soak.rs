//! Runs seeds of the world, and prints how fast: `cargo run --release --example soak -- 0 200`.

#![allow(clippy::disallowed_methods, reason = "an example may read the clock")]

use std::time::Instant;

use mimosa_world::{Plan, Summary, TransportKind, run_with};

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    let number = |place: usize, other: u64| {
        let argument = arguments.get(place).and_then(|text| text.parse().ok());
        argument.unwrap_or(other)
    };
    let transport = match arguments.get(3).map(String::as_str) {
        Some("webrtc") => TransportKind::WebRtc,
        _ => TransportKind::Plain,
    };
    #[cfg(feature = "x264")]
    let codecs = (arguments.get(4).map(String::as_str) == Some("x264"))
        .then_some(mimosa_world::Codecs::X264);
    #[cfg(not(feature = "x264"))]
    let codecs = None;
    let begun = Instant::now();
    let (mut all, mut broken) = (Summary::default(), 0);
    for seed in number(1, 0)..number(2, 100) {
        match run_with(&Plan::draw(seed, transport), codecs) {
            Ok(summary) => all.add(&summary),
            Err(violation) => {
                broken += 1;
                println!("{violation}");
                if number(2, 100) == number(1, 0) + 1 {
                    println!("{:#?}", Plan::draw(seed, transport));
                }
            }
        }
    }
    let took = begun.elapsed().as_secs_f64();
    println!("{all:#?}");
    println!(
        "{broken} broken; {:.0} times real time",
        all.time.as_secs() / took
    );
}
