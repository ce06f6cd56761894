//! SCReAM v2 where its origins have figures: libwebrtc's marks for its own SCReAM, and the
//! table of Ericsson's `test-record.md`. The tables of `docs/algorithms/scream.md` are what this prints:
//! `cargo test -p mimosa-sim --test sim scream_origins -- --nocapture`.

use std::fmt::Write;
use std::ops::RangeInclusive;

use crate::common::{Log, part, scenario, window};
use mimosa_figures::RunFigures;
use mimosa_units::Time;

/// `DualPi2NetworkQueue` as libwebrtc's tests set it up: no step, a target of 10 ms.
const MARKS: &str = "queue = { kind = \"dualpi2\", preset = \"linux\", target = \"10ms\", \
                     step = \"1000s\" }";
const NO_MARKS: &str = "queue = { kind = \"droptail\", limit = \"unlimited\" }";

/// One of libwebrtc's tests of a call: link in kbit/s, one-way delay in ms, whether the
/// queue marks, seconds, and the marks in kbit/s that every sample holds from a second on.
struct Mark {
    link: u64,
    one_way: u64,
    ecn: bool,
    seconds: u64,
    from: u64,
    within: RangeInclusive<u64>,
    /// Whether it is met here, with each of [`FEEDBACK`].
    is_met: [bool; 2],
}

/// Every 25 ms is the least that libwebrtc allows; the draft asks for each frame.
const FEEDBACK: [&str; 2] = ["25ms", "frame"];

/// `scream_test.cc`, and the first of `l4s_test.cc` (a sample after 5 s).
const CALLS: &[Mark] = &[
    mark(600, 50, false, 10, 2, 250..=700, [true, true]),
    mark(600, 10, false, 30, 2, 300..=700, [false, false]),
    mark(600, 50, true, 10, 4, 350..=660, [false, false]),
    mark(1_000, 50, true, 10, 3, 600..=1_000, [false, false]),
    mark(1_500, 15, false, 30, 2, 800..=1_900, [true, true]),
    mark(2_000, 25, false, 30, 2, 1_300..=2_300, [true, true]),
    mark(2_000, 25, true, 30, 2, 1_300..=2_100, [false, false]),
    mark(250, 0, false, 5, 5, 150..=300, [false, true]),
];

const fn mark(
    link: u64,
    one_way: u64,
    ecn: bool,
    seconds: u64,
    from: u64,
    within: RangeInclusive<u64>,
    is_met: [bool; 2],
) -> Mark {
    Mark {
        link,
        one_way,
        ecn,
        seconds,
        from,
        within,
        is_met,
    }
}

impl Mark {
    /// The targets at the end of each second from `from` on, in kbit/s, and the figures from
    /// second 2 on.
    fn run(&self, feedback: &str, seed: u64) -> (Vec<f64>, RunFigures) {
        let (queue, ecn) = if self.ecn {
            (MARKS, "ect1")
        } else {
            (NO_MARKS, "not-ect")
        };
        let scenario = scenario(&format!(
            "duration = \"{}s\"\n[link]\nrate = \"{}kbit/s\"\none_way_delay = \"{}ms\"\n{queue}\n\
             [[flow]]\ncontroller = \"scream\"\nfps = 30\nmin_bitrate = \"30kbit/s\"\n\
             start_bitrate = \"300kbit/s\"\nmax_bitrate = \"5Mbit/s\"\necn = \"{ecn}\"\n\
             feedback = \"{feedback}\"\n",
            self.seconds, self.link, self.one_way
        ));
        let log = Log::of(&scenario, seed);
        let target_at = |second| {
            let before = log.frames.iter().map(|(_, life)| life);
            let before = before.filter(|life| life.due < Time::from_secs(second));
            let last = before.max_by_key(|life| life.due).unwrap();
            last.decision.target.as_mbps() * 1e3
        };
        let targets = (self.from..=self.seconds).map(target_at).collect();
        let outcome = part(&scenario, seed, window(2_000, 1_000 * self.seconds));
        (targets, outcome)
    }
}

#[test]
fn libwebrtcs_marks() {
    println!(
        "| link, kbit/s | RTT, ms | ECN | mark, kbit/s | reports | here | used | \
         mean queueing delay, ms |"
    );
    println!("|--:|--:|---|--:|---|--:|--:|--:|");
    let mut others = Vec::new();
    for mark in CALLS {
        for (feedback, was_met) in FEEDBACK.into_iter().zip(mark.is_met) {
            let (mut least, mut most, mut used, mut queue) = (f64::MAX, 0.0_f64, 0.0, 0.0);
            for seed in 1..=4 {
                let (targets, outcome) = mark.run(feedback, seed);
                for target in targets {
                    least = least.min(target);
                    most = most.max(target);
                }
                used += outcome.link.utilization.unwrap() / 4.0;
                queue += outcome.link.queue_delay_ms.unwrap().mean / 4.0;
            }
            let (low, high) = (*mark.within.start(), *mark.within.end());
            let is_met = least > low as f64 && most < high as f64;
            let row = format!(
                "| {} | {} | {} | {low} to {high} | {feedback} | {least:.0} to {most:.0}{} | \
                 {used:.3} | {queue:.1} |",
                mark.link,
                2 * mark.one_way,
                if mark.ecn { "ECT(1)" } else { "" },
                if is_met { "" } else { ": not met" },
            );
            println!("{row}");
            if is_met != was_met {
                others.push(row.clone());
            }
            // L4S tests: round trips below 250 ms; all: the link is not left alone.
            // A packet across the edge of three seconds is 1.3 % of 250 kbit/s.
            assert!((0.5..=1.013).contains(&used), "{row}");
            assert!((0.0..=150.0).contains(&queue), "{row}");
        }
    }
    assert!(others.is_empty(), "another outcome than noted: {others:#?}");
}

/// Round trips of `test-record.md` of October 2024, test 2 and 3, in ms.
const RTTS: [u64; 4] = [5, 10, 25, 50];
/// What it has for a flow alone and beside 1 to 4 of TCP Prague, in Mbit/s: frames of one
/// size, and of sizes that vary by half.
const EVEN: [[f64; 5]; 4] = [
    [80.0, 55.0, 35.0, 25.0, 22.0],
    [75.0, 55.0, 44.0, 30.0, 23.0],
    [75.0, 60.0, 48.0, 40.0, 30.0],
    [72.0, 50.0, 32.0, 27.0, 22.0],
];
const VARIED: [[f64; 5]; 4] = [
    [69.0, 45.0, 35.0, 26.0, 18.0],
    [66.0, 46.0, 40.0, 28.0, 21.0],
    [64.0, 53.0, 40.0, 32.0, 22.0],
    [63.0, 52.0, 39.0, 25.0, 18.0],
];

/// DualPI2 of 100 Mbit/s as Linux has it, packets of 1360 bytes and 40 of headers, reports
/// every 2.5 ms, which are 16 packets at 72 Mbit/s as the draft asks for, seconds 10 to 30. `noise` is the deviation of frame sizes over their mean.
fn beside(prague: usize, rtt: u64, noise: f64) -> RunFigures {
    let varied = if noise > 0.0 {
        format!("frame_noise = {noise:?}\n")
    } else {
        String::new()
    };
    let mut text = format!(
        "duration = \"30s\"\n[link]\nrate = \"100Mbit/s\"\none_way_delay = \"{}us\"\n\
         queue = {{ kind = \"dualpi2\", preset = \"linux\" }}\n[[flow]]\nname = \"game\"\n\
         controller = \"scream\"\npacket_size = \"1360B\"\noverhead = \"40B\"\n\
         max_bitrate = \"200Mbit/s\"\necn = \"ect1\"\nfeedback = \"2500us\"\n{varied}",
        500 * rtt
    );
    for index in 0..prague {
        let _ = write!(
            text,
            "[[flow]]\nname = \"tcp{index}\"\nkind = \"tcp\"\ncontroller = \"prague\"\n"
        );
    }
    part(&scenario(&text), 1, window(10_000, 30_000))
}

/// The newest record: round trip in ms; alone, and beside one of TCP Prague, in Mbit/s.
const NEWEST: [(u64, [f64; 2]); 5] = [
    (5, [79.0, 52.0]),
    (10, [78.0, 58.0]),
    (25, [78.0, 60.0]),
    (50, [76.0, 60.0]),
    (100, [71.0, 54.0]),
];

/// A row of a table, theirs before ours: with headers, and in brackets without. A flow alone
/// is within 15 % of theirs; beside TCP Prague it has less. Both bounds were set
/// after seeing what comes.
fn row(name: &str, rtt: u64, noise: f64, theirs: &[f64]) {
    let mut cells = String::new();
    for (prague, origin) in theirs.iter().enumerate() {
        let outcome = beside(prague, rtt, noise);
        let rate = outcome.flows[0].throughput_mbps;
        let bitrate = outcome.flows[0].bitrate_mbps.unwrap();
        let _ = write!(cells, " {origin:.0} / {rate:.1} ({bitrate:.1}) |");
        let at = format!("{name}, RTT {rtt} ms, {prague} of Prague: {rate} Mbit/s");
        let queue = outcome.link.queue_delay_ms.unwrap().p99;
        assert!((0.1..=5.0).contains(&queue), "{at}, queue {queue} ms");
        let expected = if prague == 0 {
            0.85..=1.15
        } else {
            0.02..=0.95
        };
        assert!(expected.contains(&(rate / origin)), "{at}, not {origin}");
    }
    println!("| {name} | {rtt} |{cells}");
}

#[test]
fn ericssons_newest_record() {
    println!("\n| frames | RTT, ms | alone | 1 Prague |");
    println!("|---|--:|--:|--:|");
    for (rtt, theirs) in NEWEST {
        row("one size", rtt, 0.0, &theirs);
    }
}

#[test]
fn ericssons_record_of_2024() {
    // Uniform over half above and below has a deviation of 1 / sqrt(12).
    for (name, noise, theirs) in [("one size", 0.0, EVEN), ("varied", 0.289, VARIED)] {
        println!("\n| frames | RTT, ms | alone | 1 Prague | 2 | 3 | 4 |");
        println!("|---|--:|--:|--:|--:|--:|--:|");
        for (rtt, theirs) in RTTS.into_iter().zip(theirs) {
            row(name, rtt, noise, &theirs);
        }
    }
}
