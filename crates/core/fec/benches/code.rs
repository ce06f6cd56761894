//! How long the code takes for a block: `cargo bench -p mimosa-fec`.
//!
//! Beside each time stands its ratio to the reference: the exclusive or of the same media packets,
//! once for each repair packet. Times are the least of several rounds. The second table shows how
//! long a plan takes after the loss has changed, and its ratio to one exclusive or of 40 packets.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::hint::black_box;
use std::time::Instant;

use mimosa_facts::Loss;
use mimosa_fec::{Code, Planner, Target, decode, encode};

const ROUNDS: usize = 200;
const PACKET: usize = 1_200;

/// The least time of several rounds, in microseconds.
fn time(mut work: impl FnMut()) -> f64 {
    let round = |_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64() * 1e6
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

fn main() {
    println!("packets of {PACKET} bytes, least of {ROUNDS} rounds, in µs\n");
    println!("| media | repairs | exclusive or | encode | times | decode | times |");
    println!("|--:|--:|--:|--:|--:|--:|--:|");
    for (count, repairs) in [(12, 1), (12, 4), (25, 2), (25, 8), (87, 8), (170, 85)] {
        let byte = |i: usize, j: usize| u8::try_from((i * 31 + j * 7) % 251).unwrap();
        let packet = |i: usize| (0..PACKET).map(|j| byte(i, j)).collect();
        let media: Vec<Vec<u8>> = (0..count).map(packet).collect();
        let slices: Vec<&[u8]> = media.iter().map(Vec::as_slice).collect();
        let reference = time(|| {
            for _ in 0..repairs {
                let mut sum = vec![0; PACKET];
                for packet in black_box(&slices) {
                    for (sum, byte) in sum.iter_mut().zip(*packet) {
                        *sum ^= byte;
                    }
                }
                black_box(&sum);
            }
        });
        let encoding = time(|| drop(black_box(encode(black_box(&slices), repairs).unwrap())));
        let coded = encode(&slices, repairs).unwrap();
        let kept = (repairs..count).map(|i| (i, slices[i]));
        let last = (0..repairs).map(|i| (count + i, coded[i].as_slice()));
        let available: Vec<_> = kept.chain(last).collect();
        let decoding = time(|| drop(black_box(decode(count, black_box(&available)).unwrap())));
        println!(
            "| {count} | {repairs} | {reference:.1} | {encoding:.1} | {:.1} | {decoding:.1} | {:.1} |",
            encoding / reference,
            decoding / reference
        );
    }
    plans();
}

/// Times plans for 40 media packets that are lost in bursts of eight.
fn plans() {
    println!("\n| plan | rounds | µs | times |\n|---|--:|--:|--:|");
    let media = vec![vec![7_u8; PACKET]; 40];
    let reference = time(|| {
        let mut sum = vec![0; PACKET];
        for packet in black_box(&media) {
            for (sum, byte) in sum.iter_mut().zip(packet) {
                *sum ^= byte;
            }
        }
        black_box(&sum);
    });
    mimosa_fec::xor::prepare();
    let target = Target {
        late: 1e-3,
        most_overhead: 0.5,
    };
    for code in [Code::ReedSolomon, Code::Xor] {
        for rounds in [0, 1, 3] {
            let plan = time(|| {
                let mut planner = Planner::new(target, code);
                planner.set_loss(Loss {
                    begins: 0.01,
                    ends: 0.125,
                });
                black_box(planner.plan(40, rounds));
            });
            println!(
                "| {code:?} | {rounds} | {plan:.1} | {:.1} |",
                plan / reference
            );
        }
    }
}
