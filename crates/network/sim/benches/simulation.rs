//! The speed of the simulation: `cargo bench -p mimosa-sim`.
//!
//! Every figure is the median of several runs, and stands beside a reference timed in the same run:
//! pushing an event into a binary heap of 64 events and popping the earliest, which is the least
//! that a textbook simulator does for each event.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::collections::BinaryHeap;
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use mimosa_figures::{RunFigures, Window, measure};
use mimosa_scenario::{Scenario, load};

const RUNS: usize = 5;
const REFERENCE_EVENTS: u64 = 5_000_000;

/// `flows` streams of 50 Mbit/s on a link that is four fifths full.
fn scenario(seconds: u32, flows: u32, feedback: &str) -> Scenario {
    let mut text = format!(
        "duration = \"{seconds}s\"\n[link]\nrate = \"{}Mbit/s\"\nqueue = {{ kind = \"droptail\", limit = \"1MB\" }}\n",
        flows * 60
    );
    for _ in 0..flows {
        let _ = writeln!(text, "[[flow]]\nfeedback = \"{feedback}\"");
    }
    load(&text, "benchmark", &mut ())
        .unwrap()
        .variants
        .remove(0)
        .1
}

/// A stream of 20 Mbit/s over what `link` says.
fn over(link: &str) -> Scenario {
    let text = format!(
        "duration = \"60s\"\n[link]\nqueue = {{ kind = \"droptail\", limit = \"1MB\" }}\n{link}\n\
         [[flow]]\ncontroller = \"fixed\"\nstart_bitrate = \"20Mbit/s\"\nfeedback = \"frame\"\n"
    );
    load(&text, "benchmark", &mut ())
        .unwrap()
        .variants
        .remove(0)
        .1
}

/// Prints what a packet costs over each medium, and how much more that is than over a link of its
/// own. The transmissions of neighbours count with it.
fn media(reference: f64) {
    let each = |link: &str| {
        let scenario = over(link);
        let (took, figures) = time(|| run(&scenario));
        took * 1e9 / figures.balance.offered as f64
    };
    let mut wire = None;
    println!("\n| medium | ns per packet | more than the link | times the reference |");
    println!("|---|--:|--:|--:|");
    for (name, link) in [
        ("a link of 100 Mbit/s", "rate = \"100Mbit/s\""),
        (
            "that link at ticks of 1 ms",
            "rate = \"100Mbit/s\"\ntick = \"1ms\"",
        ),
        (
            "802.11n alone",
            "medium = { kind = \"wifi\", standard = \"n\" }",
        ),
        (
            "802.11ac beside four saturated neighbours",
            "medium = { kind = \"wifi\", standard = \"ac\", neighbour = [{ count = 4 }] }",
        ),
        (
            "LTE alone",
            "medium = { kind = \"cell\", generation = \"lte\" }",
        ),
        (
            "NR beside four others",
            "medium = { kind = \"cell\", generation = \"nr\", others = { count = 4 } }",
        ),
        (
            "cable beside other modems",
            "medium = { kind = \"docsis\", others = { share = 0.5 } }",
        ),
        ("satellite link", "medium = { kind = \"satellite\" }"),
    ] {
        let own = each(link);
        let wire = *wire.get_or_insert(own);
        println!(
            "| {name} | {own:.0} | {:.0} | {:.1} |",
            own - wire,
            own / reference
        );
    }
}

/// Runs `scenario` with its figures, as `mimosa sim` does.
fn run(scenario: &Scenario) -> RunFigures {
    measure(scenario, Window::WHOLE, &mut (), |observer| {
        mimosa_sim::run(scenario, 1, observer);
    })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Median time of `work` in seconds, and its result.
fn time<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut times = Vec::new();
    let mut result = None;
    for _ in 0..RUNS {
        let begin = Instant::now();
        result = Some(black_box(work()));
        times.push(begin.elapsed().as_secs_f64());
    }
    (median(times), result.unwrap())
}

/// Nanoseconds for each event of the reference.
fn reference() -> f64 {
    let (seconds, _) = time(|| {
        let mut heap: BinaryHeap<u64> = (0..64).map(|i| u64::MAX - i * 977).collect();
        let mut state = 1_u64;
        for _ in 0..REFERENCE_EVENTS {
            let now = heap.pop().unwrap();
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            heap.push(now - (state >> 44));
        }
        heap.len()
    });
    seconds * 1e9 / REFERENCE_EVENTS as f64
}

/// Peak memory of this process so far, in megabytes, if the system reports it.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}

fn main() {
    let reference = reference();
    println!("reference: {reference:.1} ns per event of a binary heap\n");
    println!(
        "| flows | feedback | simulated s per s | events per s | ns per packet | times the reference |"
    );
    println!("|--:|---|--:|--:|--:|--:|");
    for (flows, feedback) in [
        (1, "packet"),
        (1, "frame"),
        (2, "packet"),
        (4, "packet"),
        (8, "packet"),
        (16, "packet"),
        (64, "packet"),
    ] {
        let seconds = 160 / flows;
        let scenario = scenario(seconds, flows, feedback);
        let (took, figures) = time(|| run(&scenario));
        let packets = figures.balance.offered as f64;
        let each = took * 1e9 / packets;
        println!(
            "| {flows} | {feedback} | {:.0} | {:.2e} | {each:.0} | {:.1} |",
            f64::from(seconds) / took,
            figures.steps as f64 / took,
            each / reference,
        );
    }
    media(reference);
    let before = peak_megabytes();
    let hour = scenario(3600, 1, "packet");
    let begin = Instant::now();
    black_box(run(&hour));
    println!(
        "\none hour of one flow: {:.1} s",
        begin.elapsed().as_secs_f64()
    );
    if let (Some(before), Some(after)) = (before, peak_megabytes()) {
        println!("peak memory: {after:.1} MB ({before:.1} MB before that run)");
    }
}
